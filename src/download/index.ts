/** Files from the network on the user's consent: requests through proxies, downloads that go on, checks, locks. */
export {
  busyAnswer,
  checkFile,
  type Digest,
  type DownloadSettings,
  type DownloadWords,
  diskError,
  download,
  type Wanted,
} from './file.ts';
export { lockFolder } from './lock.ts';
export { get, networkWords, proxyFor, type RequestSettings } from './request.ts';
