/** Downloads into the Hub's cache, from servers that behave as the Hub does and from servers that do not. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  cachedSnapshot,
  consentLines,
  fetchFiles,
  type HubSettings,
  hubSettings,
  type Kind,
  listRepository,
  readText,
} from '../../src/hub/index.ts';
import { CancelledError, HumanError } from '../../src/shared/errors.ts';
import { commitOf, goodToken, HubServer } from './server.ts';

/** Bytes that no part of equals another. */
const large = Buffer.alloc(50_000);
for (let at = 0; at < large.length; at += 4) large.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
const readme = '---\nlicense: mit\n---\n# Sums\n';

let folder: string;
let server: HubServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-hub-'));
  server = await HubServer.start([
    {
      kind: 'dataset',
      id: 'owner/sums',
      licence: 'mit',
      largeFrom: 10_000,
      formerly: 'sums',
      revisions: {
        main: {
          'README.md': readme,
          'data/train-00000-of-00001.parquet': large,
          'data/test äß%.jsonl': '{"a": 1}\n',
          'empty.txt': '',
        },
        'refs/convert/parquet': { 'default/test/0000.parquet': large.subarray(0, 20_000) },
      },
    },
    { kind: 'dataset', id: 'owner/gated', gated: 'manual', revisions: { main: { 'a.jsonl': '{}\n' } } },
    { kind: 'dataset', id: 'owner/private', private: true, revisions: { main: { 'a.jsonl': '{}\n' } } },
    { kind: 'model', id: 'owner/model', revisions: { main: { 'config.json': '{}' } } },
  ]);
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const settings = (environment: Record<string, string> = {}): HubSettings => ({
  ...hubSettings({ HF_ENDPOINT: server.address, HF_HOME: join(folder, 'home'), ...environment }),
  pauseMilliseconds: 1,
  stallMilliseconds: 60,
});
const withToken = (token = goodToken): HubSettings => settings({ HF_TOKEN: token });
const list = (id: string, revision = 'main', given = settings(), kind: Kind = 'dataset') =>
  listRepository({ kind, id }, revision, given);
const failure = async (promise: Promise<unknown>): Promise<HumanError> => {
  const thrown = await promise.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(HumanError);
  return thrown as HumanError;
};
const repository = (): string => join(folder, 'home', 'hub', 'datasets--owner--sums');

describe('what the environment says', () => {
  it('names endpoint, cache and token as Python reads them', () => {
    const plain = hubSettings({ HF_HOME: '/h' });
    expect(plain.endpoint.href).toBe('https://huggingface.co/');
    expect(plain).toMatchObject({ cache: join('/h', 'hub'), token: null, offline: null });
    expect(hubSettings({ HF_ENDPOINT: 'https://mirror.example/hf' }).endpoint.href).toBe('https://mirror.example/hf/');
    expect(hubSettings({ HF_HUB_CACHE: '/c', HF_HOME: '/h' }).cache).toBe('/c');
    expect(hubSettings({ XDG_CACHE_HOME: '/x' }).cache).toBe(join('/x', 'huggingface', 'hub'));
    expect(hubSettings({ HF_HUB_OFFLINE: '1' }).offline).toBe('HF_HUB_OFFLINE');
    expect(hubSettings({ HF_HUB_OFFLINE: '0' }).offline).toBeNull();
    expect(hubSettings({ HF_TOKEN: ' hf_a\n', HUGGING_FACE_HUB_TOKEN: 'hf_b' }).token).toEqual({
      text: 'hf_a',
      from: 'HF_TOKEN',
    });
    writeFileSync(join(folder, 'token'), 'hf_file\n');
    expect(hubSettings({ HF_HOME: folder }).token).toEqual({ text: 'hf_file', from: join(folder, 'token') });
    expect(hubSettings({ HF_HOME: folder, HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' }).token).toBeNull();
    expect(() => hubSettings({ HF_ENDPOINT: 'mirror' })).toThrow(/HF_ENDPOINT is "mirror", which is not an address/);
  });
});

describe('the listing', () => {
  it('has every page of files, with commit, licence and digests', async () => {
    const listing = await list('owner/sums');
    expect(listing).toMatchObject({
      commit: commitOf('owner/sums', 'main'),
      licence: 'mit',
      gated: false,
      private: false,
    });
    expect(listing.files.map(({ path, bytes, digest }) => [path, bytes, digest.kind])).toEqual([
      ['README.md', readme.length, 'git'],
      ['data/train-00000-of-00001.parquet', 50_000, 'sha256'],
      ['data/test äß%.jsonl', 9, 'git'],
      ['empty.txt', 0, 'git'],
    ]);
    expect(await readText(listing, 'README.md', settings())).toBe(readme);
  });
  it('of a revision with slashes, a model, and a repository that has been renamed', async () => {
    expect((await list('owner/sums', 'refs/convert/parquet')).files).toHaveLength(1);
    expect((await list('owner/model', 'main', settings(), 'model')).files).toHaveLength(1);
    expect((await list('sums')).files).toHaveLength(4);
  });
  it('stays with a mirror whose next page names the Hub itself', async () => {
    server.behaviour = { ownNext: true };
    expect((await list('owner/sums', 'main', withToken())).files).toHaveLength(4);
  });
  it.each(['../../etc/passwd', '/etc/passwd', 'a/../../b', 'a\\..\\b', 'C:/x', 'a//b'])(
    'refuses a file that would leave the cache: %s',
    async (path) => {
      server.behaviour = { rename: () => path };
      expect((await failure(list('owner/sums'))).message).toMatch(/gives a file with the name/);
    },
  );
  it('refuses what cannot be an id before anything is asked', async () => {
    for (const id of ['a/b/c', '../x', 'a b', ''])
      expect((await failure(list(id))).message).toMatch(/is not the id of a data set/);
    expect(server.asked).toEqual([]);
  });
  it('says that a page came in place of the API', async () => {
    server.behaviour = { page: '<html>Please log in to the network</html>' };
    expect((await failure(list('owner/sums'))).message).toMatch(/gives something that is no JSON/);
  });
});

describe('refusals', () => {
  it('a repository that is not there, or may not be seen', async () => {
    const nobody = await failure(list('owner/none'));
    expect(nobody.sentence).toMatch(
      /There is no data set owner\/none on 127.* that may be read\. No token was sent\..*hf auth login/,
    );
    expect((await failure(list('owner/private'))).message).toMatch(/may be read\. No token was sent/);
    expect((await failure(list('owner/none', 'main', withToken()))).sentence).toMatch(
      /The token of HF_TOKEN was sent\..*account that may see it/,
    );
    expect((await list('owner/private', 'main', withToken())).private).toBe(true);
  });
  it('a token that is not accepted, without its text', async () => {
    const error = await failure(list('owner/sums', 'main', withToken('hf_bad')));
    expect(error.sentence).toMatch(/does not accept the token of HF_TOKEN: Invalid credentials/);
    expect(error.sentence).not.toContain('hf_bad');
  });
  it('gated files', async () => {
    const listing = await list('owner/gated');
    expect(listing.gated).toBe('manual');
    const error = await failure(fetchFiles(listing, listing.files, settings()));
    expect(error.sentence).toMatch(
      /is gated.*No token was sent\. Accept them at http.*\/datasets\/owner\/gated; then log in/,
    );
    expect(server.asked.filter(({ url }) => url.includes('resolve'))).toHaveLength(1);
    await fetchFiles(listing, listing.files, withToken());
  });
  it('a revision that is not there', async () => {
    expect((await failure(list('owner/sums', 'v9'))).message).toMatch(/has no revision "v9"/);
  });
  it('a file that has gone since it was listed', async () => {
    const listing = await list('owner/sums');
    const gone = { path: 'gone.txt', bytes: 3, digest: { kind: 'git' as const, hex: 'a'.repeat(40) } };
    expect((await failure(fetchFiles(listing, [gone], settings()))).message).toMatch(/is not on .* any more/);
  });
  it('access that the token does not give, and other statuses', async () => {
    server.behaviour = { answers: [{ status: 403, headers: { 'x-error-message': 'Needs read access.' } }] };
    expect((await failure(list('owner/sums', 'main', withToken()))).sentence).toMatch(
      /does not permit reading the data set owner\/sums: Needs read access\..*fine-grained token/,
    );
    server.behaviour = { answers: [{ status: 418 }] };
    expect((await failure(list('owner/sums'))).message).toMatch(/answers 418/);
  });
  it('a Hub that is busy is asked again, and no longer than it makes sense', async () => {
    server.behaviour = { answers: [{ status: 503 }, { status: 429, headers: { 'Retry-After': '0' } }] };
    expect((await list('owner/sums')).files).toHaveLength(4);
    server.behaviour = { answers: [{ status: 429, headers: { 'Retry-After': '3600' } }] };
    expect((await failure(list('owner/sums'))).sentence).toMatch(
      /too many requests\) and asks to wait 3600 s.*with a token/,
    );
  });
  it('no network where the environment forbids it', async () => {
    expect((await failure(list('owner/sums', 'main', settings({ HF_HUB_OFFLINE: '1' })))).message).toMatch(
      /HF_HUB_OFFLINE is set/,
    );
    expect(server.asked).toEqual([]);
  });
  it('nobody listens', async () => {
    const given = settings();
    await server.stop();
    expect((await failure(list('owner/sums', 'main', given))).sentence).toMatch(
      /could not be asked: .* refuses connections/,
    );
    server = await HubServer.start([]);
  });
});

describe('a download', () => {
  it('makes what the clients of the Hub make: blobs, links, a ref', async () => {
    const listing = await list('owner/sums');
    const seen: [number, number][] = [];
    const snapshot = await fetchFiles(listing, listing.files, settings(), {
      onProgress: ({ bytes, total }) => seen.push([bytes, total]),
    });
    expect(snapshot).toBe(join(repository(), 'snapshots', listing.commit));
    expect(readFileSync(join(repository(), 'refs', 'main'), 'utf8')).toBe(listing.commit);
    expect(readFileSync(join(snapshot, 'data', 'train-00000-of-00001.parquet')).equals(large)).toBe(true);
    expect(readFileSync(join(snapshot, 'data', 'test äß%.jsonl'), 'utf8')).toBe('{"a": 1}\n');
    expect(statSync(join(snapshot, 'empty.txt')).size).toBe(0);
    for (const { path, digest } of listing.files) {
      expect(lstatSync(join(snapshot, path)).isSymbolicLink()).toBe(true);
      expect(readlinkSync(join(snapshot, path))).toBe(
        join(path.includes('/') ? '../../..' : '../..', 'blobs', digest.hex),
      );
    }
    expect(readdirSync(join(repository(), 'blobs')).sort()).toEqual(
      listing.files.map(({ digest }) => digest.hex).sort(),
    );
    expect(await cachedSnapshot(listing, null, settings().cache)).toBe(snapshot);
    expect(seen.at(-1)).toEqual([50_000 + readme.length + 9, 50_000 + readme.length + 9]);
    expect(seen.map(([bytes]) => bytes)).toEqual(seen.map(([bytes]) => bytes).sort((a, b) => a - b));
  });
  it('asks for nothing that is there, also without a network', async () => {
    const listing = await list('owner/sums');
    await fetchFiles(listing, listing.files, settings());
    server.asked.length = 0;
    await fetchFiles(listing, listing.files, settings({ HF_HUB_OFFLINE: '1' }));
    expect(server.asked).toEqual([]);
  });
  it('sends the token to the Hub and not to the host that it redirects to', async () => {
    const listing = await list('owner/sums', 'main', withToken());
    await fetchFiles(listing, listing.files, withToken());
    const [hub, storage] = (['hub', 'storage'] as const).map((host) => server.asked.filter((one) => one.host === host));
    expect(hub?.length).toBeGreaterThan(3);
    expect(hub?.every(({ authorization }) => authorization === `Bearer ${goodToken}`)).toBe(true);
    expect(storage).toMatchObject([{ authorization: undefined }]);
  });
  it('goes on where the connection broke, and where Python stopped', async () => {
    const listing = await list('owner/sums');
    const [wanted] = listing.files.filter(({ bytes }) => bytes === 50_000);
    if (!wanted) throw new Error('no large file');
    const part = join(repository(), 'blobs', `${wanted.digest.hex}.incomplete`);
    mkdirSync(dirname(part), { recursive: true });
    writeFileSync(part, large.subarray(0, 7_000));
    server.behaviour = { breakAfter: 20_000 };
    await fetchFiles(listing, [wanted], settings());
    expect(server.asked.filter(({ host }) => host === 'storage').map(({ range }) => range)).toEqual([
      'bytes=7000-',
      'bytes=27000-',
      'bytes=47000-',
    ]);
    expect(readFileSync(join(repository(), 'blobs', wanted.digest.hex)).equals(large)).toBe(true);
    expect(existsSync(part)).toBe(false);
  });
  it('shows nothing in the snapshot before all is there, and keeps what has arrived', async () => {
    const listing = await list('owner/sums');
    const stop = new AbortController();
    const thrown = await fetchFiles(listing, listing.files, settings(), {
      signal: stop.signal,
      onProgress: ({ path, bytes }) => path.endsWith('.parquet') && bytes > readme.length && stop.abort(),
    }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(CancelledError);
    expect(existsSync(join(repository(), 'snapshots'))).toBe(false);
    expect(existsSync(join(repository(), 'refs'))).toBe(false);
    expect(readdirSync(join(repository(), 'blobs')).length).toBeGreaterThan(0);
    await fetchFiles(listing, listing.files, settings());
    expect(readdirSync(join(repository(), 'blobs')).some((name) => name.endsWith('.incomplete'))).toBe(false);
  });
  it('refuses other bytes of the right size', async () => {
    const listing = await list('owner/sums');
    const wanted = listing.files.filter(({ path }) => path === 'README.md');
    server.behaviour = { body: Buffer.from(readme.replace('Sums', 'Sins')) };
    const error = await failure(fetchFiles(listing, wanted, settings()));
    expect(error.message).toMatch(/not the file that was published: its SHA-1 \(of a git blob\) is/);
    expect(readdirSync(join(repository(), 'blobs'))).toEqual([]);
  });
  it('refuses a file that is cut short', async () => {
    const listing = await list('owner/sums');
    server.behaviour = { body: large.subarray(0, 30_000) };
    expect((await failure(fetchFiles(listing, listing.files.slice(1, 2), settings()))).message).toMatch(
      /it has 30000 bytes, not 50000/,
    );
  });
  it('gives a slow server up, with what has arrived kept', async () => {
    const listing = await list('owner/sums');
    server.behaviour = { stallAfter: 0 };
    expect((await failure(fetchFiles(listing, listing.files.slice(0, 1), settings()))).sentence).toMatch(
      /could not be fetched: .* sent nothing for 0\.06 s\. What has arrived is kept/,
    );
  });
  it('waits as long as the server asks', async () => {
    const listing = await list('owner/sums');
    const waits: number[] = [];
    server.behaviour = { answers: [{ status: 429, headers: { 'Retry-After': '1' } }] };
    await fetchFiles(listing, listing.files.slice(0, 1), settings(), {
      onProgress: ({ waits: asked }) => asked && waits.push(asked),
    });
    expect(waits).toEqual([1000]);
  });
  it('is one at a time', async () => {
    const listing = await list('owner/sums');
    const lock = join(settings().cache, '.locks', 'datasets--owner--sums', 'softbench.lock');
    mkdirSync(dirname(lock), { recursive: true });
    writeFileSync(lock, String(process.ppid));
    expect((await failure(fetchFiles(listing, listing.files, settings()))).message).toMatch(/being downloaded already/);
    // Of a process that is gone.
    writeFileSync(lock, '999999999');
    await fetchFiles(listing, listing.files, settings());
  });
  it('says before anything is fetched that the disk has no room', async () => {
    const listing = await list('owner/sums');
    const huge = [{ path: 'huge.bin', bytes: 1e18, digest: { kind: 'git' as const, hex: 'b'.repeat(40) } }];
    expect((await failure(fetchFiles(listing, huge, settings()))).message).toMatch(
      /needs 1000000000\.0 GB more in .* are free/,
    );
  });
  it('is agreed to with everything said', async () => {
    const listing = await list('owner/sums');
    const lines = await consentLines(listing, listing.files, withToken(), ['configuration main', 'split test']);
    expect(lines).toEqual([
      'Data set owner/sums: configuration main, split test',
      'Download: 51 KB in 4 files',
      `Files: README.md (1 KB), data/train-00000-of-00001.parquet (50 KB), data/test äß%.jsonl (1 KB), empty.txt (0 KB)`,
      `Source: ${server.address}/datasets/owner/sums, revision main (${listing.commit.slice(0, 8)})`,
      'Licence: mit',
      `Token: that of HF_TOKEN, sent to ${new URL(server.address).host} only`,
      `Goes to: ${repository()} (Python's datasets and transformers find it there too)`,
      'Checked: size and digest of every file',
    ]);
  });
});
