// The report of an attack: how much was tried, and how much of it got through.
import { writeSync } from 'node:fs';
import { expect } from '@jest/globals';

/** Prints one line, and fails when anything got through. @param through a line for each attempt that got through */
export function report(attack: string, tried: number, through: readonly string[]): void {
  writeSync(1, `${attack}: ${tried} tried, ${through.length} got through\n`);
  expect(through.slice(0, 20)).toEqual([]);
}
