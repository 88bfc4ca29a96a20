// Items that arrive one by one are handled in batches.
import { describe, expect, it } from '@jest/globals';
import { batch } from '../../src/events/batch.ts';

describe('batch', () => {
  it('the items of one tick form a batch, and items that arrive meanwhile form the next one', async () => {
    const rounds: (readonly number[])[] = [];
    const release: (() => void)[] = [];
    const double = batch<number, number>(async (numbers) => {
      rounds.push(numbers);
      await new Promise<void>((resolve) => release.push(resolve));
      return numbers.map((number) => number * 2);
    });
    const first = [double(1), double(2)];
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const second = [double(3), double(4), double(5)];
    expect(rounds).toEqual([[1, 2]]);
    release[0]?.();
    expect(await Promise.all(first)).toEqual([2, 4]);
    await new Promise(setImmediate);
    expect(rounds).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
    release[1]?.();
    expect(await Promise.all(second)).toEqual([6, 8, 10]);
    const third = double(6);
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    release[2]?.();
    expect(await third).toBe(12);
  });

  it('only the faulty item of a batch fails', async () => {
    const rounds: (readonly number[])[] = [];
    const half = batch<number, number>(async (numbers) => {
      rounds.push(numbers);
      if (numbers.includes(7)) throw new Error('seven');
      return numbers.map((number) => number / 2);
    });
    const outcomes = await Promise.allSettled([half(2), half(7), half(4)]);
    expect(
      outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
    ).toEqual([1, 'Error: seven', 2]);
    expect(rounds).toEqual([[2, 7, 4], [2], [7], [4]]);
  });
});
