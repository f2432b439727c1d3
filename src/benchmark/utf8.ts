/** Whether bytes are UTF-8: Node would read others as "\ufffd" without a word, and the model would be asked something else. */
import { isUtf8 } from 'node:buffer';

/** The first line (from 1) with bytes that are no UTF-8, or null. A character never spans lines. */
export function firstLineNotUtf8(bytes: Buffer): number | null {
  if (isUtf8(bytes)) return null;
  let line = 1;
  for (let from = 0; ; line++) {
    const end = bytes.indexOf(0x0a, from);
    if (end < 0 || !isUtf8(bytes.subarray(from, end))) return line;
    from = end + 1;
  }
}
