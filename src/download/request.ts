/**
 * One HTTP GET, as a stream: redirects are followed, proxies of the environment are used. An `Authorization` header goes to
 * the host that was asked and to no other that it redirects to.
 */
import * as http from 'node:http';
import * as https from 'node:https';
import type { Socket } from 'node:net';
import * as tls from 'node:tls';
import { asError, HumanError } from '../shared/errors.ts';

const mostRedirects = 5;

export interface RequestSettings {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Milliseconds without an answer after which the connection counts as lost. */
  stallMilliseconds?: number;
  /** Where the variables of proxies are read; null: the process's own agent decides (VS Code has one). */
  environment?: NodeJS.ProcessEnv | null;
}

/**
 * The proxy that the environment names for an address: HTTPS_PROXY or HTTP_PROXY by its scheme, ALL_PROXY else, and
 * none for the hosts of NO_PROXY (names, `.suffixes`, `*`). Capital and small letters both count, small ones first.
 */
export function proxyFor(address: URL, environment: NodeJS.ProcessEnv): URL | null {
  const read = (name: string): string | undefined => environment[name.toLowerCase()] || environment[name];
  const exceptions = (read('NO_PROXY') ?? '')
    .split(/[\s,]+/)
    .map((entry) => entry.replace(/^\*?\./, '').toLowerCase())
    .filter(Boolean);
  const host = address.hostname.toLowerCase();
  for (const exception of exceptions) {
    const [name, port] = exception.split(':');
    if (port && port !== (address.port || (address.protocol === 'https:' ? '443' : '80'))) continue;
    if (name === '*' || host === name || host.endsWith(`.${name}`)) return null;
  }
  const named = read(address.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? read('ALL_PROXY');
  if (!named) return null;
  const text = named.includes('://') ? named : `http://${named}`;
  const proxy = URL.canParse(text) ? new URL(text) : null;
  if (!proxy || (proxy.protocol !== 'http:' && proxy.protocol !== 'https:'))
    throw new HumanError('bad-input', `The proxy "${withoutPassword(named)}" cannot be used.`, {
      todo: 'HTTPS_PROXY takes an address such as http://proxy.example:3128.',
    });
  return proxy;
}

const withoutPassword = (address: string): string => address.replace(/\/\/[^@/]*@/, '//');

const authorisation = ({ username, password }: URL): Record<string, string> =>
  username
    ? {
        'Proxy-Authorization': `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`,
      }
    : {};

/** A tunnel through the proxy (CONNECT), then TLS with the host itself: the proxy sees the host's name only. */
async function tunnel(proxy: URL, address: URL, signal: AbortSignal | undefined, stall: number): Promise<Socket> {
  const port = address.port || '443';
  const client = proxy.protocol === 'https:' ? https : http;
  const socket = await new Promise<Socket>((resolve, reject) => {
    const connect = client.request({
      method: 'CONNECT',
      host: proxy.hostname,
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      path: `${address.hostname}:${port}`,
      headers: { Host: `${address.hostname}:${port}`, ...authorisation(proxy) },
      signal,
      agent: false,
      timeout: stall,
    });
    connect.on('connect', (response, open) => {
      if (response.statusCode === 200) resolve(open);
      else {
        open.destroy();
        reject(
          new HumanError('engine', `The proxy ${proxy.host} answered ${response.statusCode} for ${address.hostname}.`, {
            todo: 'Check HTTPS_PROXY and its user name.',
          }),
        );
      }
    });
    connect.on('timeout', () => connect.destroy(new Error(`the proxy ${proxy.host} did not answer`)));
    connect.on('error', reject);
    connect.end();
  });
  return await new Promise<Socket>((resolve, reject) => {
    const secure = tls.connect({ socket, servername: address.hostname }, () => resolve(secure));
    secure.on('error', reject);
  });
}

/** Sends the request and gives the final answer with its body unread. Network errors are plain Errors. */
export async function get(address: URL, settings: RequestSettings = {}, redirects = 0): Promise<http.IncomingMessage> {
  const { headers = {}, signal, stallMilliseconds: stall = 60_000, environment = process.env } = settings;
  const proxy = environment ? proxyFor(address, environment) : null;
  const secure = address.protocol === 'https:';
  const options: https.RequestOptions = { headers: { 'User-Agent': 'softbench', ...headers }, signal, timeout: stall };
  if (proxy && secure) {
    const socket = await tunnel(proxy, address, signal, stall);
    // The socket speaks TLS already.
    options.createConnection = () => socket;
    options.agent = false;
  } else if (environment) options.agent = false;
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const request =
      proxy && !secure
        ? http.request(
            {
              ...options,
              host: proxy.hostname,
              port: proxy.port || 80,
              path: address.href,
              headers: { ...options.headers, Host: address.host, ...authorisation(proxy) },
            },
            resolve,
          )
        : (secure ? https : http).request(address, options, resolve);
    request.on('timeout', () => request.destroy(new Error(`${address.host} sent nothing for ${stall / 1000} s`)));
    request.on('error', reject);
    request.end();
  });
  const { statusCode = 0 } = response;
  const { location } = response.headers;
  if (statusCode < 300 || statusCode >= 400 || !location) return response;
  response.destroy();
  const next = new URL(location, address);
  if (redirects >= mostRedirects) throw new Error(`${address.host} redirects in a circle`);
  if (secure && next.protocol !== 'https:') throw new Error(`${address.host} redirects to an address without TLS`);
  return get(next, next.origin === address.origin ? settings : withoutAuthorisation(settings), redirects + 1);
}

function withoutAuthorisation(settings: RequestSettings): RequestSettings {
  const headers = Object.entries(settings.headers ?? {}).filter(([name]) => name.toLowerCase() !== 'authorization');
  return { ...settings, headers: Object.fromEntries(headers) };
}

/** What a network error means to a person, in a clause. */
export function networkWords(thrown: unknown, address: URL): string {
  const error = asError(thrown) as NodeJS.ErrnoException;
  const words: Record<string, string> = {
    ENOTFOUND: `the name ${address.hostname} is not known here`,
    EAI_AGAIN: `the name ${address.hostname} could not be looked up`,
    ECONNREFUSED: `${address.host} refuses connections`,
    ECONNRESET: `${address.host} broke the connection`,
    ETIMEDOUT: `${address.host} does not answer`,
    EHOSTUNREACH: `${address.host} cannot be reached`,
    ENETUNREACH: 'there is no network',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `the certificate of ${address.hostname} is signed by somebody unknown (NODE_EXTRA_CA_CERTS adds one)`,
    SELF_SIGNED_CERT_IN_CHAIN: `the certificate of ${address.hostname} is signed by somebody unknown (NODE_EXTRA_CA_CERTS adds one)`,
  };
  return words[error.code ?? ''] ?? error.message;
}
