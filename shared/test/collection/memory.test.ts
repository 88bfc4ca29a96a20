// The memory that large requests leave occupied in a process is bounded.
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCursors, fromBody, openCollection } from '../../src/collection/index.ts';
import { eventually } from '../../src/testing/index.ts';
import { criteria } from './arbitraries.ts';
import { sample } from './sample.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');
const newCursors = () => createCursors([Buffer.alloc(32, 1)]);

async function keptBytes(): Promise<number> {
  // A weak reference that was read or created keeps its object until the end of the job.
  await setImmediate();
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('a process', () => {
  it('a process retains shapes, and no data of the requests from which they were compiled', async () => {
    const { prepared } = openCollection(sample, newCursors());
    const fill = () =>
      fc.sample(criteria(5), 300).flatMap((given) => {
        const position = given.sort.map(() => 'z');
        const scope = {};
        prepared.get({ criteria: given, position: undefined, scope });
        prepared.get({ criteria: given, position, scope });
        const conditions = [...given.conditions, ...given.or.flat()];
        return [given, position, scope, given.sort, ...conditions].map((part) => new WeakRef<object>(part));
      });
    const parts = fill();
    // V8 compiles functions in the background, and keeps their objects until it has finished.
    await eventually(async () => {
      await keptBytes();
      expect(parts.filter((part) => part.deref() !== undefined)).toHaveLength(0);
    });
    const again = { criteria: fromBody(sample, {}), position: undefined, scope: {} };
    expect(prepared.get(again).statement).toBe(prepared.get(again).statement);
  });

  it('a process retains no data of cursors and of their filters', async () => {
    const [sealing, opening] = [newCursors(), newCursors()];
    const binding = (index: number) => `${index}€`.padEnd(50_000, 'x');
    const at = { pointer: '/pagination/cursor' };
    const before = await keptBytes();
    for (let index = 0; index < 1_000; index += 1) {
      opening.open(sealing.seal([`${index}`], binding(index)), binding(index), at);
    }
    // Two hundred megabytes of text have been read.
    await eventually(async () => expect((await keptBytes()) - before).toBeLessThan(20_000_000));
    expect(sealing.open(opening.seal(['1'], binding(1)), binding(1), at)).toEqual(['1']);
  });
});
