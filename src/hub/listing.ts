/** What a repository holds at a revision: commit, licence, and every file with size and digest. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { busyAnswer, type Digest, get, networkWords } from '../download/index.ts';
import { asError, CancelledError, HumanError } from '../shared/errors.ts';
import { checkOnline, refusal } from './refusals.ts';
import { checkId, kindWords, type Repository } from './repository.ts';
import type { HubSettings } from './settings.ts';

export interface HubFile {
  /** Within the repository, `/` between folders. */
  path: string;
  bytes: number;
  digest: Digest;
}

export interface Listing extends Repository {
  /** As asked for: a branch, a tag or a commit. */
  revision: string;
  commit: string;
  private: boolean;
  /** How access is given: by itself once terms are accepted, or by the authors one by one. */
  gated: false | 'auto' | 'manual';
  /** As the card says it; null where it does not. */
  licence: string | null;
  files: HubFile[];
}

/** Attempts of a request of the API; an answer that is busy is asked for again. */
const attempts = 5;
const longestPause = 120_000;
const largestAnswer = 64 * 2 ** 20;
/** The address that answers of a mirror may still name. */
const ownOrigin = 'https://huggingface.co';

/**
 * Asks the Hub (with @huggingface/hub, over this product's own requests: proxies, patience, errors for people).
 * @throws HumanError where the repository is not there or may not be read, or the network fails
 */
export async function listRepository(
  repository: Repository,
  revision: string,
  settings: HubSettings,
  signal?: AbortSignal,
): Promise<Listing> {
  checkId(repository);
  checkOnline(settings);
  const { kind, id } = repository;
  const { datasetInfo, modelInfo, listFiles } = await import('./api.ts');
  const hubUrl = settings.endpoint.href.replace(/\/$/, '');
  const fetch = fetchFor(repository, revision, settings, signal);
  const strange = (what: string): HumanError =>
    new HumanError('engine', `${settings.endpoint.host} gives ${what} for the ${kindWords[kind]} ${id}.`, {
      todo: 'Check HF_ENDPOINT, and a proxy or a mirror in between.',
    });
  try {
    const asked = {
      name: id,
      revision,
      hubUrl,
      fetch,
      additionalFields: ['sha', 'cardData', 'tags'] as ('sha' | 'cardData' | 'tags')[],
    };
    const info = kind === 'dataset' ? await datasetInfo(asked) : await modelInfo(asked);
    const commit = String(info.sha);
    if (!/^[0-9a-f]{40}$/.test(commit)) throw strange('no commit');
    const files: HubFile[] = [];
    // Of the commit, not of the branch: the files belong together even where somebody is changing them.
    for await (const entry of listFiles({
      repo: { type: kind, name: id },
      revision: commit,
      recursive: true,
      hubUrl,
      fetch,
    })) {
      if (entry.type !== 'file') continue;
      const digest: Digest = entry.lfs ? { kind: 'sha256', hex: entry.lfs.oid } : { kind: 'git', hex: entry.oid ?? '' };
      if (!isSafe(entry.path)) throw strange(`a file with the name ${JSON.stringify(entry.path)}`);
      if (!/^[0-9a-f]+$/.test(digest.hex) || digest.hex.length !== (entry.lfs ? 64 : 40))
        throw strange('files without digest');
      const bytes = entry.lfs?.size ?? entry.size;
      if (!Number.isSafeInteger(bytes) || bytes < 0) throw strange('files without size');
      files.push({ path: entry.path, bytes, digest });
    }
    return {
      ...repository,
      revision,
      commit,
      private: info.private === true,
      gated: info.gated === 'auto' || info.gated === 'manual' ? info.gated : false,
      licence: licenceOf(info),
      files,
    };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw strange('something that is no JSON');
    throw thrown;
  }
}

/** A path that stays within its repository, on every system. */
function isSafe(path: string): boolean {
  return (
    path !== '' &&
    !/[\0\\]|^[a-z]:/i.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

function licenceOf({ cardData, tags }: { cardData?: unknown; tags?: unknown }): string | null {
  const card = typeof cardData === 'object' && cardData !== null ? (cardData as Record<string, unknown>) : {};
  const named = [card.license_name, card.license].flat().filter((entry): entry is string => typeof entry === 'string');
  const tagged = (Array.isArray(tags) ? tags : []).flatMap((tag) => /^license:(.+)$/.exec(String(tag))?.[1] ?? []);
  const found = named.length > 0 ? named : tagged;
  return found.length > 0 ? [...new Set(found)].join(', ') : null;
}

/** `fetch` as @huggingface/hub uses it, for GET. The token goes to the endpoint's host and nowhere else. */
function fetchFor(
  repository: Repository,
  revision: string,
  settings: HubSettings,
  signal: AbortSignal | undefined,
): typeof globalThis.fetch {
  return async (input, init) => {
    const given = new URL(input instanceof Request ? input.url : input);
    const address =
      given.origin === ownOrigin && settings.endpoint.origin !== ownOrigin
        ? new URL(`${given.pathname.slice(1)}${given.search}`, settings.endpoint)
        : given;
    const headers = Object.fromEntries(new Headers(init?.headers));
    const { status, headers: answered, body } = await ask(address, repository, revision, settings, headers, signal);
    const kept = Object.entries(answered).flatMap(([name, value]): [string, string][] =>
      value === undefined || name === 'set-cookie' ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    );
    return new Response(new Uint8Array(body), { status, headers: kept });
  };
}

/** A small answer, whole; busy servers and broken connections are asked again. @throws HumanError for any other refusal */
export async function ask(
  address: URL,
  repository: Repository,
  revision: string,
  settings: HubSettings,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }> {
  const { endpoint, token, proxies, pauseMilliseconds = 1000 } = settings;
  const stall = settings.stallMilliseconds ?? 30_000;
  const authorisation: Record<string, string> =
    token && address.origin === endpoint.origin ? { Authorization: `Bearer ${token.text}` } : {};
  for (let attempt = 1; ; attempt++) {
    let words = '';
    let tooMany = false;
    let wait = pauseMilliseconds * 2 ** (attempt - 1);
    let cause: unknown;
    try {
      const response = await get(address, {
        headers: { ...headers, ...authorisation, 'Accept-Encoding': 'identity' },
        ...(signal && { signal }),
        stallMilliseconds: stall,
        environment: proxies,
      });
      const status = response.statusCode ?? 0;
      if (status >= 400 && status < 500 && status !== 429 && status !== 408) {
        response.destroy();
        throw refusal(repository, revision, settings, status, response.headers);
      }
      if (status === 429 || status === 408 || status >= 500) {
        response.destroy();
        const busy = busyAnswer(address, status, response.headers);
        words = busy.words;
        tooMany = status === 429;
        wait = Math.max(wait, busy.pause);
      } else {
        response.setTimeout(stall, () =>
          response.destroy(new Error(`${address.host} sent nothing for ${stall / 1000} s`)),
        );
        const parts: Buffer[] = [];
        let bytes = 0;
        for await (const part of response as AsyncIterable<Buffer>) {
          bytes += part.length;
          if (bytes > largestAnswer)
            throw new HumanError('engine', `${address.host} sends an answer without end.`, {
              todo: 'Check HF_ENDPOINT, and a proxy or mirror in between.',
            });
          parts.push(part);
        }
        return { status, headers: response.headers, body: Buffer.concat(parts) };
      }
    } catch (thrown) {
      if (signal?.aborted) throw new CancelledError('Stopped. Nothing was fetched.');
      if (thrown instanceof HumanError) throw thrown;
      cause = asError(thrown);
      words = networkWords(thrown, address);
    }
    if (attempt >= attempts || wait > longestPause)
      throw new HumanError('engine', `The Hugging Face Hub could not be asked: ${words}.`, {
        todo: tooMany
          ? 'Wait and try again; with a token (`hf auth login`) more is allowed.'
          : 'Check the network and try again. Behind a proxy set HTTPS_PROXY (in VS Code: http.proxy); for a mirror HF_ENDPOINT.',
        ...(cause !== undefined && { cause }),
      });
    await pause(wait, undefined, signal && { signal }).catch(() => {});
    if (signal?.aborted) throw new CancelledError('Stopped. Nothing was fetched.');
  }
}
