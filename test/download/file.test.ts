/** Fetching one file from a server that behaves, and from servers that do not. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DownloadSettings, diskError, download } from '../../src/download/file.ts';
import { proxyFor } from '../../src/download/request.ts';
import { CancelledError, HumanError } from '../../src/shared/errors.ts';
import { PackageServer } from './server.ts';

/** Bytes that no part of equals another. */
const content = Buffer.alloc(100_000);
for (let at = 0; at < content.length; at += 4) content.writeUInt32LE((at * 2_654_435_761) >>> 0, at);
const wanted = {
  file: 'lib.whl',
  bytes: content.length,
  digest: { kind: 'sha256' as const, hex: createHash('sha256').update(content).digest('hex') },
};

let folder: string;
let server: PackageServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'softbench-download-'));
  server = await PackageServer.start({ 'lib.whl': content });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const target = (): string => join(folder, 'sub', 'lib.whl');
const fetchIt = (settings: DownloadSettings = {}): Promise<void> =>
  download(new URL(`${server.address}/lib.whl`), target(), wanted, {
    attempts: 3,
    pauseMilliseconds: 1,
    environment: {},
    ...settings,
  });
const failure = async (settings?: DownloadSettings): Promise<HumanError> => {
  const thrown = await fetchIt(settings).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(HumanError);
  return thrown as HumanError;
};

describe('download', () => {
  it('fetches a file and reports its bytes', async () => {
    const seen: number[] = [];
    await fetchIt({ onBytes: (bytes) => seen.push(bytes) });
    expect(readFileSync(target()).equals(content)).toBe(true);
    expect(seen.at(-1)).toBe(content.length);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
    expect(existsSync(`${target()}.part`)).toBe(false);
  });

  it('asks for nothing where the file is there already', async () => {
    await fetchIt();
    server.asked.length = 0;
    await fetchIt();
    expect(server.asked).toEqual([]);
  });

  it('follows redirects', async () => {
    server.behaviour = { redirect: true };
    await fetchIt();
    expect(server.asked.map(({ url }) => url)).toEqual(['/lib.whl', '/moved/lib.whl']);
    expect(readFileSync(target()).equals(content)).toBe(true);
  });

  it('goes on where a broken connection left off, as long as something arrives', async () => {
    server.behaviour = { breakAfter: 30_000 };
    await fetchIt({ attempts: 2 });
    expect(readFileSync(target()).equals(content)).toBe(true);
    expect(server.asked.map(({ range }) => range)).toEqual([undefined, 'bytes=30000-', 'bytes=60000-', 'bytes=90000-']);
    expect(server.sent).toBe(content.length);
  });

  it('goes on where an earlier attempt left off, in another process too', async () => {
    await fetchIt().catch(() => {});
    rmSync(target());
    writeFileSync(`${target()}.part`, content.subarray(0, 70_000));
    server.asked.length = 0;
    await fetchIt();
    expect(server.asked.map(({ range }) => range)).toEqual(['bytes=70000-']);
    expect(readFileSync(target()).equals(content)).toBe(true);
  });

  it('begins again with a server that knows no ranges', async () => {
    await fetchIt();
    rmSync(target());
    writeFileSync(`${target()}.part`, content.subarray(0, 70_000));
    server.behaviour = { ignoreRange: true };
    await fetchIt();
    expect(readFileSync(target()).equals(content)).toBe(true);
  });

  it('tries again with a server that is busy', async () => {
    server.behaviour = { statuses: [503, 429] };
    await fetchIt();
    expect(server.asked).toHaveLength(3);
  });

  it('asks again where a server falls silent', async () => {
    server.behaviour = { stallAfter: 40_000 };
    await fetchIt({ stallMilliseconds: 60, attempts: 1 });
    expect(server.asked.map(({ range }) => range)).toEqual([undefined, 'bytes=40000-', 'bytes=80000-']);
    expect(readFileSync(target()).equals(content)).toBe(true);
  });

  it('says that a server stays silent', async () => {
    server.behaviour = { stallAfter: 0 };
    const error = await failure({ stallMilliseconds: 60, attempts: 2 });
    expect(error.message).toMatch(/could not be fetched: 127\.0\.0\.1:\d+ sent nothing for 0\.06 s\./);
    expect(server.asked).toHaveLength(2);
  });

  it('says what a server answers that has no such file, at once', async () => {
    const thrown = await download(new URL(`${server.address}/other.whl`), target(), wanted, {
      environment: {},
    }).catch((error: unknown) => error);
    expect((thrown as HumanError).message).toMatch(/answers 404 for lib\.whl/);
    expect(server.asked).toHaveLength(1);
  });

  it('refuses a file of another size before it is fetched', async () => {
    server.behaviour = { body: content.subarray(0, 50_000) };
    const error = await failure();
    expect(error.message).toMatch(/has 50000 bytes, not 100000/);
    expect(server.asked).toHaveLength(1);
  });

  it('refuses a file that turns out longer or shorter', async () => {
    server.behaviour = { body: Buffer.concat([content, content]), chunked: true };
    expect((await failure()).message).toMatch(/longer than 0.1 MB/);
    server.behaviour = { body: content.subarray(0, 50_000), chunked: true };
    expect((await failure()).message).toMatch(/could not be fetched/);
  });

  it('refuses other bytes of the right size, and keeps nothing of them', async () => {
    const body = Buffer.from(content);
    body[99_999] = (body[99_999] ?? 0) ^ 1;
    server.behaviour = { body };
    const error = await failure();
    expect(error.message).toMatch(/not the file that was published: its SHA-256 is [0-9a-f]{64}/);
    expect(existsSync(target())).toBe(false);
    expect(existsSync(`${target()}.part`)).toBe(false);
  });

  it('keeps what has arrived when it is stopped', async () => {
    const stop = new AbortController();
    server.behaviour = { stallAfter: 40_000 };
    const thrown = await fetchIt({ signal: stop.signal, onBytes: () => stop.abort() }).catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(CancelledError);
    expect((thrown as HumanError).message).toMatch(/What has arrived is kept/);
    expect(statSync(`${target()}.part`).size).toBeGreaterThan(0);
    server.behaviour = {};
    await fetchIt();
    expect(readFileSync(target()).equals(content)).toBe(true);
  });

  it('says that nobody listens', async () => {
    const address = new URL(`${server.address}/lib.whl`);
    await server.stop();
    const thrown = await download(address, target(), wanted, {
      attempts: 2,
      pauseMilliseconds: 1,
      environment: {},
    }).catch((error: unknown) => error);
    expect((thrown as HumanError).message).toMatch(/could not be fetched: 127\.0\.0\.1:\d+ refuses connections\./);
    server = await PackageServer.start({});
  });

  it('says that the disk is full', () => {
    const error = diskError(Object.assign(new Error('write'), { code: 'ENOSPC' }), '/somewhere/lib.whl');
    expect(error?.kind).toBe('disk');
    expect(error?.message).toBe('lib.whl could not be written to /somewhere: the disk is full.');
  });
});

describe('proxies', () => {
  const named = (address: string, environment: Record<string, string>): string | null =>
    proxyFor(new URL(address), environment)?.href ?? null;

  it('are read from the environment as curl reads them', () => {
    expect(named('https://a.example/x', {})).toBeNull();
    expect(named('https://a.example/x', { HTTPS_PROXY: 'http://p:3128' })).toBe('http://p:3128/');
    expect(named('https://a.example/x', { https_proxy: 'p:3128' })).toBe('http://p:3128/');
    expect(named('http://a.example/x', { HTTPS_PROXY: 'http://p:3128' })).toBeNull();
    expect(named('http://a.example/x', { ALL_PROXY: 'http://p:3128' })).toBe('http://p:3128/');
    for (const exception of ['*', 'a.example', '.example', '*.example', 'other, a.example:443'])
      expect(named('https://a.example/x', { HTTPS_PROXY: 'http://p:3128', NO_PROXY: exception })).toBeNull();
    expect(named('https://ba.example/x', { HTTPS_PROXY: 'http://p:3128', NO_PROXY: 'a.example' })).not.toBeNull();
    expect(named('https://a.example/x', { HTTPS_PROXY: 'http://p:3128', NO_PROXY: 'a.example:80' })).not.toBeNull();
    expect(() => named('https://a.example/x', { HTTPS_PROXY: 'socks5://me:secret@p:1' })).toThrow(
      /The proxy "socks5:\/\/p:1" cannot be used/,
    );
  });

  it('fetch the file', async () => {
    await download(new URL('http://packages.invalid/lib.whl'), target(), wanted, {
      environment: { HTTP_PROXY: server.address.replace('http://', 'http://me:secret@') },
      attempts: 1,
    });
    expect(server.asked[0]?.url).toBe('http://packages.invalid/lib.whl');
    expect(server.asked[0]?.headers['proxy-authorization']).toBe(
      `Basic ${Buffer.from('me:secret').toString('base64')}`,
    );
    expect(readFileSync(target()).equals(content)).toBe(true);
  });

  it('are asked for a tunnel where the address is https', async () => {
    const thrown = await download(new URL('https://packages.invalid/lib.whl'), target(), wanted, {
      environment: { HTTPS_PROXY: server.address },
      attempts: 1,
    }).catch((error: unknown) => error);
    expect(server.asked[0]).toMatchObject({ method: 'CONNECT', url: 'packages.invalid:443' });
    expect((thrown as HumanError).message).toMatch(/The proxy 127\.0\.0\.1:\d+ answered 407 for packages\.invalid/);
  });
});
