/** What the environment says about the Hub, by the variables that Hugging Face's Python clients read. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HumanError } from '../shared/errors.ts';
import { hubCache, hubHome } from './cache.ts';

export interface HubSettings {
  /** With a slash at its end. */
  endpoint: URL;
  /** Sent to the endpoint's host only. */
  token: { text: string; from: string } | null;
  /** The variable that forbids the network; null: it is allowed. */
  offline: string | null;
  /** Folder of all repositories on this machine. */
  cache: string;
  /** Where proxies are read; null: the process's own agent decides (VS Code has one). */
  proxies: NodeJS.ProcessEnv | null;
  /** Milliseconds without an answer after which a connection counts as lost. */
  stallMilliseconds?: number;
  /** Milliseconds before the second attempt. */
  pauseMilliseconds?: number;
}

const isOn = (text: string | undefined): boolean => /^(?:1|on|yes|true)$/i.test(text ?? '');

/** Variables that forbid the network, `huggingface_hub`'s own and those of its users. */
const offlineVariables = ['HF_HUB_OFFLINE', 'HF_DATASETS_OFFLINE', 'TRANSFORMERS_OFFLINE'] as const;

/**
 * The settings of an environment.
 * @throws HumanError where HF_ENDPOINT is not an address
 */
export function hubSettings(environment: NodeJS.ProcessEnv = process.env): HubSettings {
  const named = environment.HF_ENDPOINT || 'https://huggingface.co';
  const endpoint = URL.canParse(named) ? new URL(named) : null;
  if (!endpoint || !/^https?:$/.test(endpoint.protocol))
    throw new HumanError('bad-input', `HF_ENDPOINT is "${named}", which is not an address.`, {
      todo: 'Leave it out for https://huggingface.co, or give the address of a mirror.',
    });
  endpoint.pathname = endpoint.pathname.replace(/\/*$/, '/');
  return {
    endpoint,
    token: tokenOf(environment),
    offline: offlineVariables.find((name) => isOn(environment[name])) ?? null,
    cache: hubCache(environment),
    proxies: environment,
  };
}

/** HF_TOKEN, its old name, else the file that `hf auth login` writes. */
function tokenOf(environment: NodeJS.ProcessEnv): HubSettings['token'] {
  for (const name of ['HF_TOKEN', 'HUGGING_FACE_HUB_TOKEN']) {
    const text = environment[name]?.replace(/[\r\n]/g, '').trim();
    if (text) return { text, from: name };
  }
  if (isOn(environment.HF_HUB_DISABLE_IMPLICIT_TOKEN)) return null;
  const file = environment.HF_TOKEN_PATH?.replace(/^~(?=[\\/])/, homedir()) || join(hubHome(environment), 'token');
  try {
    const text = readFileSync(file, 'utf8')
      .replace(/[\r\n]/g, '')
      .trim();
    return text ? { text, from: file } : null;
  } catch {
    return null;
  }
}
