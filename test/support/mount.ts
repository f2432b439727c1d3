/** File systems of a size of one's own, for tests of full disks. */
import { execFileSync } from 'node:child_process';

/** Whether this process may mount: tried once, and nothing is left behind. */
export const canMount = ((): boolean => {
  if (process.platform !== 'linux') return false;
  try {
    execFileSync('sh', ['-c', 'd=$(mktemp -d) && mount -t tmpfs -o size=64k tmpfs "$d" && umount "$d" && rmdir "$d"'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
})();
