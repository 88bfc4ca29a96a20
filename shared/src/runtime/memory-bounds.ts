// Environment variables that limit the memory of a process.

export const memoryBounds = {
  /**
   * Node.js options, in MiB. The first limits the young generation: half of V8's default is as fast and saves 15 to 20
   * MB. The second limits the old generation to several times the live data of a service. Without it, V8 retains twice
   * as much garbage.
   */
  NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=256',
  /**
   * Limits the heaps of the C library. Otherwise it allocates one for each of V8's threads, 20 MB in total that are
   * hardly used.
   */
  MALLOC_ARENA_MAX: '1',
} as const;
