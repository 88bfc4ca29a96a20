// The report of an attack: the number of attempts and of successful ones.
import { writeSync } from 'node:fs';
import { expect } from '@jest/globals';

/** Prints one line, and fails when an attempt was successful. @param through a line for each successful attempt */
export function report(attack: string, tried: number, through: readonly string[]): void {
  writeSync(1, `${attack}: ${tried} tried, ${through.length} got through\n`);
  expect(through.slice(0, 20)).toEqual([]);
}
