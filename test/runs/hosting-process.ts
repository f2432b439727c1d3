/** A host that starts the writing process as its worker, prints what it prints, and waits to be killed. */
import { fork } from 'node:child_process';

const [program = '', ...args] = process.argv.slice(2);
const child = fork(program, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
child.stdout?.pipe(process.stdout);
