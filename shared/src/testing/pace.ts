// How much slower this machine is at the moment than the one on which times are promised.

import { paceVariable } from './run-state.ts';

/** Milliseconds that the work below takes on one core of a build machine that does nothing else. */
const reference = 45;
const samples = 5;
const orders = Array.from({ length: 1_000 }, (_, index) => ({
  id: `order ${index}`,
  quantity: index,
  price: index / 7,
}));

/**
 * 1 on a machine as fast and as free as the reference, 3 on one that takes three times as long, because it is slower or
 * because others are at work on it. Never below 1: a faster machine gets no less time. Keeps this process busy for the
 * time that it takes.
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

/** As many milliseconds, or more by as much as this machine was slower when the run of tests began. */
export function atThisPace(milliseconds: number): number {
  return milliseconds * Number(process.env[paceVariable] ?? 1);
}
