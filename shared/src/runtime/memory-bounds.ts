// How much memory a process of the shop may take: variables of its environment.

export const memoryBounds = {
  /**
   * In MiB. The first is for what requests leave behind: half of V8's own is no slower, and leaves 15 to 20 MB free. The
   * second is several times what a service keeps; without it V8 lets twice as much garbage lie.
   */
  NODE_OPTIONS: '--max-semi-space-size=8 --max-old-space-size=256',
  /** The C library otherwise opens a heap for each of V8's threads, 20 MB in all that are hardly used. */
  MALLOC_ARENA_MAX: '1',
} as const;
