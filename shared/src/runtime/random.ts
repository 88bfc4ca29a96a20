// Random bytes in small portions, without a call into the operating system for each.
import { randomFillSync } from 'node:crypto';

const block = Buffer.alloc(4096);
let used = block.length;

/** `size` unpredictable bytes, at most 4096; none is given out twice. A copy, which the caller may keep. */
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
