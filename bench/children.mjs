// The programs that a bench compares, each in a process of its own: started together, asked in turn, so that a machine
// that is busy with other things is busy for all of them, and watched for their memory.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * Starts a program that answers every line of JSON on its input with one on its output; its first line says that it is
 * ready. Anything that it prints besides goes to the terminal.
 */
export async function startChild(command, args, { env = {} } = {}) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const waiting = [];
  let ended = null;
  const memory = watchMemory(child.pid);
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (!line.startsWith('{')) console.error(line);
    else waiting.shift()?.resolve(JSON.parse(line));
  });
  const end = (reason) => {
    ended ??= new Error(`${command} ${args[0]} ${reason}`);
    memory.stop();
    for (const { reject } of waiting.splice(0)) reject(ended);
  };
  child.on('error', (error) => end(`could not be started: ${error.message}`));
  child.on('exit', (code, signal) => end(`ended (${signal ?? code})`));
  const reply = async () => {
    if (ended) throw ended;
    const answer = await new Promise((resolve, reject) => waiting.push({ resolve, reject }));
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  const ready = await reply();
  return {
    ready,
    memory: memory.read,
    ask(request) {
      const answer = reply();
      child.stdin.write(`${JSON.stringify(request)}\n`);
      return answer;
    },
    async stop() {
      child.stdin.end();
      await new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', resolve);
        setTimeout(() => child.kill('SIGKILL'), 5000).unref();
      });
      return memory.read();
    },
  };
}

/**
 * Peak memory of a process in bytes: `resident` counts all pages in memory, those of mapped files too (the kernel's own
 * high-water mark); `anonymous` leaves the files out (read 50 times a second). Both null where there is no /proc.
 */
function watchMemory(pid) {
  const peak = { resident: null, anonymous: null };
  const read = () => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const bytes = (key) => 1024 * Number(status.match(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm'))?.[1] ?? 0);
      peak.resident = Math.max(peak.resident ?? 0, bytes('VmHWM'));
      peak.anonymous = Math.max(peak.anonymous ?? 0, bytes('RssAnon'));
    } catch {
      // Ended, or not Linux.
    }
    return { ...peak };
  };
  const timer = setInterval(read, 20);
  return { read, stop: () => clearInterval(timer) };
}

export const median = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};

/** The median of ratios taken pair by pair, and the smallest and largest: `over[i] / under[i]`. */
export function ratio(over, under) {
  const ratios = over.map((value, i) => value / under[i]);
  return { median: median(ratios), smallest: Math.min(...ratios), largest: Math.max(...ratios) };
}

/**
 * Asks each program in turn, `rounds` times after `warmUps` that do not count.
 * @returns the answers by program, in order of rounds
 */
export async function alternate(programs, { rounds, warmUps = 1, onRound }) {
  const answers = Object.fromEntries(Object.keys(programs).map((name) => [name, []]));
  for (let round = -warmUps; round < rounds; round++) {
    for (const [name, ask] of Object.entries(programs)) {
      const answer = await ask();
      if (round >= 0) answers[name].push(answer);
    }
    onRound?.(round + 1, rounds);
  }
  return answers;
}
