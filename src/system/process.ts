/** Whether a process of this machine has the number now; it may be another one than the number was noted for. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    // Of another user: it is there.
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
}
