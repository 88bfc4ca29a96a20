// Measures how much slower this machine is at present than the machine for which the time limits are stated.

import { paceVariable } from './run-state.ts';

/** Milliseconds that the work below takes on one core of an otherwise idle build machine. */
const reference = 45;
const samples = 5;
const orders = Array.from({ length: 1_000 }, (_, index) => ({
  id: `order ${index}`,
  quantity: index,
  price: index / 7,
}));

/**
 * Returns 1 on a machine as fast and as idle as the reference, and 3 on one that takes three times as long, because it
 * is slower or busy. It is never below 1, so a faster machine gets no less time. The measurement keeps this process
 * busy.
 */
export function slowness(): number {
  const times = Array.from({ length: samples }, () => {
    const began = performance.now();
    for (let pass = 0; pass < 100; pass += 1) JSON.parse(JSON.stringify(orders));
    return performance.now() - began;
  });
  const median = times.sort((a, b) => a - b)[Math.floor(samples / 2)] ?? reference;
  return Math.max(1, median / reference);
}

/**
 * Returns a number of milliseconds, multiplied by the slowness that was measured when the run of tests began. It is a
 * whole number, which `AbortSignal.timeout` requires.
 */
export function atThisPace(milliseconds: number): number {
  return Math.ceil(milliseconds * Number(process.env[paceVariable] ?? 1));
}
