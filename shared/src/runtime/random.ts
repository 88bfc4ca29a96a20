// Returns random bytes from a buffer, so that small amounts need no system call each.
import { randomFillSync } from 'node:crypto';

const block = Buffer.alloc(4096);
let used = block.length;

/** Returns a new buffer of `size` random bytes, at most 4096. No byte is used twice. */
export function random(size: number): Buffer {
  if (used + size > block.length) {
    randomFillSync(block);
    used = 0;
  }
  const portion = Buffer.from(block.subarray(used, used + size));
  block.fill(0, used, used + size);
  used += size;
  return portion;
}
