// The other end of children.mjs: a program that answers lines of JSON.
import { createInterface } from 'node:readline';

/** Says that the program is ready, then answers each request; ends when its input ends. */
export async function answerRequests(ready, handle) {
  const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
  say(ready);
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      say(await handle(JSON.parse(line)));
    } catch (error) {
      say({ error: error.stack ?? String(error) });
    }
  }
  process.exit(0);
}
