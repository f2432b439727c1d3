/** The worker process that owns ONNX Runtime: its entry (main.ts), and the client that the host holds. */
export { WorkerClient, type WorkerClientOptions } from './client.ts';
