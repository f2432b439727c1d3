/** Entry of the worker thread. */
import { workerHandlers } from './handlers.ts';
import { rooms } from './rooms.ts';
import { serveHost } from './serve.ts';

serveHost(workerHandlers(rooms));
