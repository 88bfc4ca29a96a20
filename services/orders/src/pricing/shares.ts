// Exact arithmetic of amounts in minor units. No amount is negative.

/** Returns the sum of the amounts. */
export function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n);
}

/** Returns numerator / denominator, rounded half away from zero. */
export function roundedQuotient(numerator: bigint, denominator: bigint): bigint {
  return (2n * numerator + denominator) / (2n * denominator);
}

/** Returns a decimal such as "8.1" multiplied by 10 to the power of `digits`, the most that it may have after its point. */
export function scaled(decimal: string, digits: number): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(digits, '0'));
}

/**
 * Divides an amount in proportion to the weights, by largest remainder: each share is rounded down, and the units that are
 * left go to the shares that lost most, of equal ones to the first. The shares add up to the amount.
 * An amount up to the sum of the weights gives no share above its weight. Nothing is divided when all weights are 0.
 */
export function apportion(amount: bigint, weights: readonly bigint[]): bigint[] {
  const whole = sum(weights);
  if (whole === 0n) return weights.map(() => 0n);
  const shares = weights.map((weight) => (amount * weight) / whole);
  const raised = weights
    .map((weight, index) => ({ index, remainder: (amount * weight) % whole }))
    .sort((one, other) => Number(other.remainder - one.remainder))
    .slice(0, Number(amount - sum(shares)));
  const indexes = new Set(raised.map(({ index }) => index));
  return shares.map((share, index) => (indexes.has(index) ? share + 1n : share));
}

/**
 * Returns what is left of a part of an amount when `rest` of the amount is left: part − round(part · (whole − rest) / whole).
 * For a part up to the whole, a smaller rest never has a larger part, nor a larger difference of rest and part. So amounts
 * that are given back in any steps are never negative, and add up to the part.
 */
export function remainingPart(part: bigint, whole: bigint, rest: bigint): bigint {
  return whole === 0n ? 0n : part - roundedQuotient(part * (whole - rest), whole);
}
