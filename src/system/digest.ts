import { createHash } from 'node:crypto';

/** SHA-256 in hexadecimal digits; of a text, that of its UTF-8 bytes. */
export const sha256 = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex');
