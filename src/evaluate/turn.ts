/** Lets the event loop turn once, so that a cancel message or a timer gets through between blocking calls. */
export const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
