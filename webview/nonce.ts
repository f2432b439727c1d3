/**
 * The toolkit tries out a style sheet of its own when it is loaded, and takes the nonce for it from this meta element.
 * To be imported before the toolkit: without a nonce the page's policy refuses the trial (and says so in the console).
 */
const nonce = document.currentScript?.nonce;
if (nonce) {
  const meta = document.createElement('meta');
  meta.setAttribute('property', 'csp-nonce');
  meta.content = nonce;
  document.head.append(meta);
}
