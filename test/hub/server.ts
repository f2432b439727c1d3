/**
 * Local servers that speak as the Hugging Face Hub does: its API (revision, tree with pages), files with etags and commits,
 * large files behind a redirect to a second host, error codes in headers. They misbehave on request.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServedRepository {
  kind: 'dataset' | 'model';
  id: string;
  /** By revision. */
  revisions: Record<string, Record<string, Buffer | string>>;
  /** Files from this size on are in large-file storage. */
  largeFrom?: number;
  private?: boolean;
  gated?: 'auto' | 'manual';
  licence?: string;
  /** Another id that the repository had before. */
  formerly?: string;
}

export interface HubBehaviour {
  /** Answers with these first, one a request. */
  answers?: { status: number; headers?: Record<string, string> }[];
  /** Breaks the connection after so many bytes of each file. */
  breakAfter?: number;
  /** Sends so many bytes of each file, then nothing more. */
  stallAfter?: number;
  /** Sends these bytes in place of a file's. */
  body?: Buffer;
  /** What the API sends in place of JSON. */
  page?: string;
  /** Renames files of the listing. */
  rename?(path: string): string;
  /** Next pages are said to be on the Hub's own host. */
  ownNext?: boolean;
}

export interface Asked {
  host: 'hub' | 'storage';
  url: string;
  range: string | undefined;
  authorization: string | undefined;
}

const sha = (kind: 'sha1' | 'sha256', content: Buffer): string => createHash(kind).update(content).digest('hex');
export const gitDigest = (content: Buffer): string =>
  sha('sha1', Buffer.concat([Buffer.from(`blob ${content.length}\0`), content]));
export const commitOf = (id: string, revision: string): string => sha('sha1', Buffer.from(`${id}@${revision}`));

/** Entries of a page; the Hub has a thousand. */
const pageLength = 2;
export const goodToken = 'hf_good';

export class HubServer {
  readonly asked: Asked[] = [];
  behaviour: HubBehaviour = {};
  readonly #hub: Server;
  readonly #storage: Server;
  readonly #repositories: readonly ServedRepository[];

  private constructor(repositories: readonly ServedRepository[]) {
    this.#repositories = repositories;
    this.#hub = createServer((request, response) => this.#answer('hub', request, response));
    this.#storage = createServer((request, response) => this.#answer('storage', request, response));
  }

  static async start(repositories: readonly ServedRepository[]): Promise<HubServer> {
    const made = new HubServer(repositories);
    for (const server of [made.#hub, made.#storage])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#hub.address() as AddressInfo).port}`;
  }
  get storageAddress(): string {
    return `http://127.0.0.1:${(this.#storage.address() as AddressInfo).port}`;
  }

  #answer(host: Asked['host'], request: IncomingMessage, response: ServerResponse): unknown {
    const { range, authorization } = request.headers;
    const url = request.url ?? '';
    this.asked.push({ host, url, range, authorization });
    const first = this.behaviour.answers?.shift();
    if (first) {
      return response.writeHead(first.status, first.headers).end();
    }
    const { pathname, searchParams } = new URL(url, this.address);
    if (host === 'storage') {
      // Signed addresses of a storage refuse requests that bring another authorisation along.
      if (authorization) return this.#refuse(response, 400, 'InvalidArgument', 'Only one auth mechanism allowed');
      return this.#send(request, response, this.#blobs.get(pathname.slice(1)) ?? Buffer.alloc(0), {});
    }
    const api = /^\/api\/(dataset|model)s\/([^/]+\/[^/]+|[^/]+)\/(revision|tree|paths-info)\/([^/]+)(?:\/(.*))?$/.exec(
      pathname,
    );
    const file = /^\/(datasets\/)?([^/]+\/[^/]+|[^/]+)\/resolve\/([^/]+)\/(.+)$/.exec(pathname);
    const kind = api ? api[1] : file?.[1] ? 'dataset' : 'model';
    const id = api?.[2] ?? file?.[2];
    const renamed = this.#repositories.find((one) => one.formerly === id && one.kind === kind);
    if (renamed && id) {
      return response.writeHead(307, { Location: url.replace(id, renamed.id) }).end();
    }
    const found = this.#repositories.find((one) => one.id === id && one.kind === kind);
    const known = authorization === undefined || authorization === `Bearer ${goodToken}`;
    if (!known) return this.#refuse(response, 401, '', 'Invalid credentials in Authorization header');
    if (!found || (found.private && authorization === undefined))
      return this.#refuse(response, authorization ? 404 : 401, 'RepoNotFound', 'Repository not found');
    const revision = decodeURIComponent(api?.[4] ?? file?.[3] ?? '');
    const [name, files] =
      Object.entries(found.revisions).find(
        ([each], at) => each === revision || commitOf(found.id, each) === revision || (revision === 'HEAD' && at === 0),
      ) ?? [];
    if (!files || name === undefined)
      return this.#refuse(response, 404, 'RevisionNotFound', `Invalid rev id: ${revision}`);
    const commit = commitOf(found.id, name);
    if (api && this.behaviour.page !== undefined) {
      return response.writeHead(200, { 'Content-Type': 'text/html' }).end(this.behaviour.page);
    }
    if (api?.[3] === 'revision') return this.#json(response, this.#info(found, commit));
    if (api?.[3] === 'paths-info') return this.#paths(request, response, found, files);
    if (api) {
      const under = decodeURIComponent(api[5] ?? '');
      const entries = this.#entries(found, files, under, searchParams.get('recursive')?.toLowerCase() === 'true');
      if (under && entries.length === 0) return this.#refuse(response, 404, 'EntryNotFound', 'No such folder');
      return this.#page(response, entries, pathname, Number(searchParams.get('cursor') ?? 0));
    }
    if (found.gated && authorization === undefined)
      return this.#refuse(response, 401, 'GatedRepo', `Access to ${found.kind} ${found.id} is restricted.`);
    const stored = files[decodeURIComponent(file?.[4] ?? '')];
    if (stored === undefined) return this.#refuse(response, 404, 'EntryNotFound', 'Entry not found');
    const content = Buffer.from(stored);
    const isLarge = content.length >= (found.largeFrom ?? Number.POSITIVE_INFINITY);
    const headers = { 'X-Repo-Commit': commit, 'Accept-Ranges': 'bytes' };
    if (!isLarge) return this.#send(request, response, content, { ...headers, ETag: `"${gitDigest(content)}"` });
    const digest = sha('sha256', content);
    this.#blobs.set(digest, content);
    return response
      .writeHead(302, {
        ...headers,
        'X-Linked-Size': content.length,
        'X-Linked-ETag': `"${digest}"`,
        Location: `${this.storageAddress}/${digest}?signature=abc`,
      })
      .end();
  }

  readonly #blobs = new Map<string, Buffer>();

  #info(found: ServedRepository, commit: string): unknown {
    return {
      _id: 'x',
      id: found.id,
      sha: commit,
      private: found.private ?? false,
      gated: found.gated ?? false,
      downloads: 1,
      likes: 1,
      lastModified: '2025-01-01T00:00:00.000Z',
      tags: [],
      ...(found.licence && { cardData: { license: found.licence } }),
    };
  }

  /** Folders and files below a folder, as the API lists them. */
  #entries(
    found: ServedRepository,
    files: Record<string, Buffer | string>,
    under: string,
    recursive: boolean,
  ): { path: string }[] {
    const folders = new Set(
      Object.keys(files).flatMap((file) =>
        file
          .split('/')
          .slice(0, -1)
          .map((_, at, parts) => parts.slice(0, at + 1).join('/')),
      ),
    );
    const inside = ({ path }: { path: string }): boolean =>
      (under === '' || path.startsWith(`${under}/`)) &&
      (recursive || !path.slice(under === '' ? 0 : under.length + 1).includes('/'));
    return [
      ...[...folders].map((folder) => ({ type: 'directory', path: folder, oid: '0'.repeat(40), size: 0 })),
      ...Object.entries(files).map(([file, stored]) => {
        const content = Buffer.from(stored);
        const isLarge = content.length >= (found.largeFrom ?? Number.POSITIVE_INFINITY);
        return {
          type: 'file',
          path: file,
          size: content.length,
          oid: gitDigest(isLarge ? Buffer.from('pointer') : content),
          ...(isLarge && { lfs: { oid: sha('sha256', content), size: content.length, pointerSize: 130 } }),
        };
      }),
    ]
      .filter(inside)
      .map((entry) => ({ ...entry, path: this.behaviour.rename?.(entry.path) ?? entry.path }));
  }

  #page(response: ServerResponse, entries: readonly unknown[], path: string, cursor: number): void {
    const next = cursor + pageLength;
    const host = this.behaviour.ownNext ? 'https://huggingface.co' : this.address;
    this.#json(response, entries.slice(cursor, next), {
      ...(next < entries.length && { Link: `<${host}${path}?recursive=true&cursor=${next}>; rel="next"` }),
    });
  }

  /** What is at each of the paths that the body names. */
  #paths(
    request: IncomingMessage,
    response: ServerResponse,
    found: ServedRepository,
    files: Record<string, Buffer | string>,
  ): void {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const { paths }: { paths: string | string[] } = request.headers['content-type']?.includes('json')
        ? JSON.parse(body)
        : { paths: new URLSearchParams(body).getAll('paths') };
      const wanted = new Set([paths].flat());
      this.#json(
        response,
        this.#entries(found, files, '', true).filter(({ path }) => wanted.has(path)),
      );
    });
  }

  #json(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
    response.writeHead(200, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(value));
  }

  #refuse(response: ServerResponse, status: number, code: string, message: string): void {
    response
      .writeHead(status, {
        ...(code && { 'X-Error-Code': code }),
        'X-Error-Message': message,
        'Content-Type': 'application/json',
      })
      .end(JSON.stringify({ error: message }));
  }

  #send(request: IncomingMessage, response: ServerResponse, stored: Buffer, headers: Record<string, string>): void {
    const { breakAfter, stallAfter, body } = this.behaviour;
    const file = body ?? stored;
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const start = range ? Number(range[1]) : 0;
    if (start >= file.length && start > 0) {
      response.writeHead(416, { 'Content-Range': `bytes */${file.length}` }).end();
      return;
    }
    const rest = file.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      ...headers,
      'Content-Length': rest.length,
      ...(start > 0 && { 'Content-Range': `bytes ${start}-${file.length - 1}/${file.length}` }),
    });
    const limit = breakAfter ?? stallAfter;
    if (limit === undefined) response.end(rest);
    else
      response.write(rest.subarray(0, limit), () => {
        // Closed once all is on its way: a machine under load is slow to read it.
        if (breakAfter !== undefined) request.socket.destroySoon();
      });
  }

  async stop(): Promise<void> {
    for (const server of [this.#hub, this.#storage]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }
}
