/** What an answer of the Hub other than the one hoped for means to a person. */
import type { IncomingHttpHeaders } from 'node:http';
import { HumanError } from '../shared/errors.ts';
import { kindWords, pageAddress, type Repository } from './repository.ts';
import type { HubSettings } from './settings.ts';

const text = (value: string | string[] | undefined): string => (Array.isArray(value) ? value.join(' ') : (value ?? ''));

/**
 * The error for a status of 400 to 499. The Hub says more than the number in `X-Error-Code` and `X-Error-Message`
 * (`huggingface_hub`, utils/_http.py); for what may not be seen it answers as if it were not there, mostly with 401.
 */
export function refusal(
  repository: Repository,
  revision: string,
  { endpoint, token }: HubSettings,
  status: number,
  headers: IncomingHttpHeaders,
): HumanError {
  const [code, message] = [text(headers['x-error-code']), text(headers['x-error-message'])];
  const page = pageAddress(repository, endpoint);
  const subject = `${kindWords[repository.kind]} ${repository.id}`;
  const withToken = token ? `The token of ${token.from} was sent.` : 'No token was sent.';
  const logIn = 'log in with `hf auth login`, or set HF_TOKEN to a token with read access';
  const error = (kind: HumanError['kind'], words: string, todo: string): HumanError =>
    new HumanError(kind, words, { todo });
  if (code === 'GatedRepo')
    return error(
      'bad-input',
      `The ${subject} is gated: its authors give it to those who accept their terms. ${withToken}`,
      token ? `Accept them with your account at ${page}, then try again.` : `Accept them at ${page}; then ${logIn}.`,
    );
  if (status === 401 && token && /invalid (?:credentials|username|token)|expired/i.test(message))
    return error(
      'bad-input',
      `${endpoint.host} does not accept the token of ${token.from}: ${message.replace(/\.$/, '')}.`,
      'Make a new token in the settings of your account, or take the old one away for data that is public.',
    );
  if (code === 'RevisionNotFound')
    return error(
      'missing',
      `The ${subject} has no revision "${revision}" on ${endpoint.host}.`,
      `See ${page} for its branches and tags.`,
    );
  if (code === 'EntryNotFound')
    return error(
      'missing',
      `A file of the ${subject} is not on ${endpoint.host} any more.`,
      'Try again: its list of files has changed meanwhile.',
    );
  if (/access to this (?:resource|repository) is disabled/i.test(message) || status === 451)
    return error(
      'missing',
      `The Hub has closed access to the ${subject}${message ? `: ${message.replace(/\.$/, '')}` : ''}.`,
      `See ${page}.`,
    );
  if (status === 401 || status === 404 || code === 'RepoNotFound')
    return error(
      'missing',
      `There is no ${subject} on ${endpoint.host} that may be read. ${withToken}`,
      token
        ? 'Check the name; for a private one use the token of an account that may see it.'
        : `Check the name; for a private one ${logIn}.`,
    );
  if (status === 403)
    return error(
      'bad-input',
      `${endpoint.host} does not permit reading the ${subject}${message ? `: ${message.replace(/\.$/, '')}` : ''}. ${withToken}`,
      `See ${page}; ${token ? 'a fine-grained token needs read access to this repository' : logIn}.`,
    );
  return error(
    'engine',
    `${endpoint.host} answers ${status} for the ${subject}${message ? `: ${message.replace(/\.$/, '')}` : ''}.`,
    'Check HF_ENDPOINT, and a proxy or a mirror in between.',
  );
}

/** Where the environment forbids the network. */
export function checkOnline({ offline }: HubSettings): void {
  if (offline)
    throw new HumanError('bad-input', `${offline} is set, so nothing is fetched from the Hugging Face Hub.`, {
      todo: 'Take it away, or bring the files here otherwise.',
    });
}
