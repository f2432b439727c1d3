/** Making elements without innerHTML: everything that is data goes in as text. */

export type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

function apply(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.replace(/^on/, ''), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** The children that are there: conditions that do not hold leave none. */
export const present = (children: readonly Child[]): (Node | string)[] =>
  children.filter((child) => child !== null && child !== undefined && child !== false);

/** An HTML element. `on…` attributes are listeners; there is no `style` attribute, since the page's CSP forbids it. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  apply(element, attributes);
  element.append(...present(children));
  return element;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  apply(element, attributes);
  element.append(...present(children));
  return element;
}

/**
 * Replaces the children of a container only where `content` differs from what was rendered there last, and keeps the
 * focus on the element with the same `data-key`: a live page must not take away what the user is on.
 */
export function render(container: HTMLElement, content: unknown, make: () => Child[]): void {
  const signature = JSON.stringify(content) ?? '';
  if (signatures.get(container) === signature) return;
  signatures.set(container, signature);
  const focused = document.activeElement;
  const key = focused && container.contains(focused) ? focused.closest('[data-key]')?.getAttribute('data-key') : null;
  const opened = new Set(
    [...container.querySelectorAll<HTMLDetailsElement>('details[data-key]')]
      .filter((details) => details.open)
      .map((details) => details.dataset.key),
  );
  container.replaceChildren(...present(make()));
  for (const details of container.querySelectorAll<HTMLDetailsElement>('details[data-key]'))
    if (opened.has(details.dataset.key)) details.open = true;
  if (key) container.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
const signatures = new WeakMap<HTMLElement, string>();

/** Runs at most once a frame. */
export function onNextFrame(work: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      work();
    });
  };
}

/** Runs `milliseconds` after the last call. */
export function debounced(work: () => void, milliseconds: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, milliseconds);
  };
}

/** Runs at once, and again at most every so many milliseconds; the last call is never lost. */
export function throttled(work: () => void, milliseconds: number): () => void {
  let last = Number.NEGATIVE_INFINITY;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return () => {
    if (timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        last = performance.now();
        work();
      },
      Math.max(0, last + milliseconds - performance.now()),
    );
  };
}
