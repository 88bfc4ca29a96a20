// How much memory a process of the shop may take: options of Node, for NODE_OPTIONS.

/**
 * In MiB. The first is for what requests leave behind: a smaller space is collected so often that it costs a quarter of the
 * gateway's throughput. The second is several times what a service keeps; without it V8 lets twice as much garbage lie.
 */
export const memoryBounds = '--max-semi-space-size=16 --max-old-space-size=256';
