/** A local server that speaks as a package index does, and misbehaves on request. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Behaviour {
  /** Breaks the connection after so many bytes of each answer. */
  breakAfter?: number;
  /** Sends so many bytes, then nothing more. */
  stallAfter?: number;
  /** Answers the whole file whatever range is asked for. */
  ignoreRange?: boolean;
  /** Answers with these status codes first, one a request. */
  statuses?: number[];
  /** Sends the file from behind a redirect. */
  redirect?: boolean;
  /** Without a Content-Length. */
  chunked?: boolean;
  body?: Buffer;
}

export interface Asked {
  method: string;
  url: string;
  range: string | undefined;
  headers: IncomingMessage['headers'];
}

export class PackageServer {
  readonly asked: Asked[] = [];
  behaviour: Behaviour = {};
  private constructor(
    private readonly server: Server,
    private readonly files: Map<string, Buffer>,
  ) {}

  static async start(files: Record<string, Buffer>): Promise<PackageServer> {
    const server = createServer();
    const made = new PackageServer(server, new Map(Object.entries(files)));
    server.on('request', (request, response) => made.#answer(request, response));
    server.on('connect', (request, socket) => {
      made.asked.push({ method: 'CONNECT', url: request.url ?? '', range: undefined, headers: request.headers });
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Bytes of files sent so far. */
  sent = 0;

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method = '' } = request;
    this.asked.push({ method, url, range: request.headers.range, headers: request.headers });
    const { behaviour } = this;
    const status = behaviour.statuses?.shift();
    if (status) {
      response.writeHead(status).end();
      return;
    }
    const path = url.startsWith('http') ? new URL(url).pathname : url;
    if (behaviour.redirect && !path.startsWith('/moved')) {
      response.writeHead(302, { Location: `/moved${path}` }).end();
      return;
    }
    const file = behaviour.body ?? this.files.get(path.replace(/^\/moved/, '').slice(1));
    if (!file) {
      response.writeHead(404).end('no such file');
      return;
    }
    const range = /^bytes=(\d+)-$/.exec(request.headers.range ?? '');
    const start = range && !behaviour.ignoreRange ? Number(range[1]) : 0;
    if (start >= file.length) {
      response.writeHead(416, { 'Content-Range': `bytes */${file.length}` }).end();
      return;
    }
    const rest = file.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      ...(behaviour.chunked ? {} : { 'Content-Length': rest.length }),
      ...(start > 0 ? { 'Content-Range': `bytes ${start}-${file.length - 1}/${file.length}` } : {}),
    });
    const limit = behaviour.breakAfter ?? behaviour.stallAfter;
    const now = limit === undefined ? rest : rest.subarray(0, limit);
    this.sent += now.length;
    if (limit === undefined) response.end(now);
    else if (limit === 0) response.flushHeaders();
    else
      response.write(now, () => {
        // Closed once all is on its way: a machine under load is slow to read it.
        if (behaviour.breakAfter !== undefined) request.socket.destroySoon();
      });
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
