/** CRC-32 (ISO 3309, as in PNG and gzip): tells a damaged line from a whole one. Node has it only from version 22 on. */

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  return rest;
});

export function crc32(bytes: Uint8Array): number {
  let rest = -1;
  for (let i = 0; i < bytes.length; i++) rest = (rest >>> 8) ^ (table[(rest ^ (bytes[i] ?? 0)) & 255] ?? 0);
  return ~rest >>> 0;
}
