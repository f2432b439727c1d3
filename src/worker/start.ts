/** What the host hands to a worker thread when it starts it. */
export interface WorkerStart {
  /** Name of the thread in the locks of run folders. */
  owner: string;
  /** Threads of the same process that have ended. */
  deadOwners: string[];
}
