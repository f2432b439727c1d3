/** A repository of the Hub by kind and id, and how addresses and folders name it. */
import { HumanError } from '../shared/errors.ts';

export type Kind = 'dataset' | 'model';

export interface Repository {
  kind: Kind;
  /** `owner/name`, or `name` alone for old data sets. */
  id: string;
}

export const kindWords: Readonly<Record<Kind, string>> = { dataset: 'data set', model: 'model' };
/** What stands before the id in addresses of files and pages. */
const prefixes: Readonly<Record<Kind, string>> = { dataset: 'datasets/', model: '' };

/** Parts of a name as the Hub allows them; neither `.` nor `..`. */
const part = /^(?!\.{1,2}$)[\w.-]{1,96}$/;

/** @throws HumanError where the text cannot be the id of a repository */
export function checkId({ kind, id }: Repository): void {
  const parts = id.split('/');
  if (parts.length > 2 || !parts.every((each) => part.test(each)))
    throw new HumanError('bad-input', `"${id}" is not the id of a ${kindWords[kind]} on the Hugging Face Hub.`, {
      todo: 'An id is `owner/name`, as the page of the repository shows it.',
    });
}

const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

/** Where the Hub gives a file. A revision with slashes (`refs/convert/parquet`) is one part of the address. */
export const fileAddress = ({ kind, id }: Repository, revision: string, path: string, endpoint: URL): URL =>
  new URL(`${endpoint.href}${prefixes[kind]}${id}/resolve/${encodeURIComponent(revision)}/${encoded(path)}`);

export const pageAddress = ({ kind, id }: Repository, endpoint: URL): string =>
  `${endpoint.href}${prefixes[kind]}${id}`;

/** `datasets--owner--name`, as the clients of the Hub name folders of their cache. */
export const folderName = ({ kind, id }: Repository): string => `${kind}s--${id.replaceAll('/', '--')}`;
