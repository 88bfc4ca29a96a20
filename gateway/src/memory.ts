// How the gateway's heap is collected: thousands of connections that only wait should cost little, and so should requests.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Percent by which the old space may grow before all of the heap is collected again: about 55 MB, and never more than halfway to
 * its maximum.
 */
const growth = 200;

/**
 * Gives back what only the start needed: parsed documents, compiled schemas, the text of modules. From then on the whole
 * heap is collected rarely: V8's own eight megabytes of growth are gone within seconds, and each time the requests of a
 * single core wait for tens of milliseconds. Call once.
 */
export function settleMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}
