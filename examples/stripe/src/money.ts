// Exact conversion between the major units of the shop and the minor units of a provider.

/** @throws RangeError when the amount has more decimals, or is too large to be exact */
export function toMinor(amount: number, decimals: number): number {
  const minor = Math.round(amount * 10 ** decimals);
  if (Number.isSafeInteger(minor) && toMajor(minor, decimals) === amount) return minor;
  throw new RangeError(`${amount} has no exact value with ${decimals} decimals`);
}

/** The quotient of two exact integers is the number that its decimal notation stands for. */
export function toMajor(minor: number, decimals: number): number {
  return minor / 10 ** decimals;
}
