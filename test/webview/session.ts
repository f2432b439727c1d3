/** The browser of a test file: opened before its tests with the pages they need, closed after them. */
import { afterAll, beforeAll } from 'vitest';
import { type Bundles, browserPath, bundlePages, type PageName, type Session, startSession } from './browser.ts';

export interface TestSession extends Pick<Session, 'open' | 'openFile'> {
  readonly bundles: Bundles;
}

/**
 * Call it at the top of a test file. Without Chromium there are the bundles only, and what opens a page is to be skipped.
 * @param pages those to bundle; all where none are named
 * @param timeout milliseconds for bundling and opening; the usual ones of hooks where it is not given
 */
export function testSession({ pages, timeout }: { pages?: readonly PageName[]; timeout?: number } = {}): TestSession {
  let bundles: Bundles | null = null;
  let session: Session | null = null;
  beforeAll(async () => {
    bundles = await bundlePages(pages);
    if (browserPath) session = await startSession(bundles);
  }, timeout);
  afterAll(() => session?.close());
  const opened = <T>(what: T | null): T => {
    if (what === null) throw new Error('The pages are there within tests, and where there is Chromium.');
    return what;
  };
  return {
    open: (page, options) => opened(session).open(page, options),
    openFile: (name, html) => opened(session).openFile(name, html),
    get bundles() {
      return opened(bundles);
    },
  };
}
