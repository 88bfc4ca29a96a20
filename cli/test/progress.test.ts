// The progress bar of long commands, as it is drawn on a terminal of 60 columns.
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { showProgress } from '../src/output/progress.ts';

type Unit = Parameters<typeof showProgress>[0];
type Step = readonly [done: number, total: number];

/** Draws the steps, each with time for the bar to appear. @returns each text that was drawn */
async function drawn(unit: Unit, steps: readonly Step[], pause = 150): Promise<string[]> {
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 60 });
  const written: string[] = [];
  stream.on('data', (data) => written.push(stripVTControlCharacters(String(data))));
  const bar = showProgress(unit, stream);
  for (const step of steps) {
    bar.update(...step);
    await sleep(pause);
  }
  bar.stop();
  await sleep(0);
  return written.filter((text) => text.trim() !== '');
}

const units: readonly Unit[] = ['products', 'bytes', 'tables'];

describe.each(units)('the progress in %s', (unit) => {
  it.each<[string, Step[]]>([
    ['nothing is to be done', [[0, 0]]],
    [
      'the total is unknown at first',
      [
        [0, 0],
        [0, 10],
        [5, 10],
        [10, 10],
      ],
    ],
    [
      'one is to be done',
      [
        [0, 1],
        [1, 1],
      ],
    ],
    [
      'it makes no progress',
      [
        [0, 10],
        [0, 10],
        [0, 10],
      ],
    ],
    ['everything is done with the first step', [[10, 10]]],
    [
      'more is done than was expected',
      [
        [0, 1],
        [2, 1],
      ],
    ],
    [
      'much is to be done',
      [
        [1, 50_000_000],
        [2, 50_000_000],
      ],
    ],
  ])('the progress bar has a number wherever it has one, and fits 60 columns, when %s', async (_case, steps) => {
    const texts = await drawn(unit, steps);
    expect(texts.length).toBeGreaterThan(0);
    for (const text of texts) {
      expect(text).toMatch(/^[=-]{10} {1,}\d+ %( {2}\d+ of \d+ [a-z]+)?( {2}(\d+ s|\d+ min|\d+ h \d+ min) left)?$/);
      expect(text.length).toBeLessThanOrEqual(60);
    }
  });

  it('the progress bar of a short command is drawn', async () => {
    expect(await drawn(unit, [], 0)).toEqual([]);
    expect((await drawn(unit, [[1, 1]], 0)).at(-1)).toMatch(/^={10} 100 %( {2}1 of 1 [a-z]+)?$/);
  });
});

it('the progress bar shows the time that is left as soon as it is known', async () => {
  const texts = await drawn(
    'products',
    [
      [0, 100],
      [1, 100],
      [2, 100],
    ],
    200,
  );
  expect(texts[0]).toBe('---------- 0 %  0 of 100 products');
  // On a busy machine, the steps take longer than their pauses.
  expect(texts.at(-1)).toMatch(/ 2 % {2}2 of 100 products {2}\d+ (s|min) left$/);
});
