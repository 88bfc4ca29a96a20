// The adapter of examples/stripe without a shop: its types, its amounts and its settings.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { installStripe, loadExample, startAdapter } from './started-adapter.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

beforeAll(installStripe);

interface Money {
  readonly decimalsOf: (currency: string) => number;
  readonly toMinor: (amount: number, decimals: number) => number;
  readonly toMajor: (minor: number, decimals: number) => number;
}
const loadMoney = (): Promise<Money> => loadExample<Money>('money.ts', 'stripe.ts');

describe('the example for Stripe', () => {
  it('the example for Stripe has valid types', async () => {
    await promisify(execFile)('node_modules/.bin/tsc', ['--project', 'examples/stripe'], { cwd: root });
  });

  it.each([
    ['EUR', 29.99, 2999],
    ['EUR', 1.15, 115],
    ['JPY', 500, 500],
    ['KWD', 5.12, 5120],
    ['ISK', 5, 500],
    ['HUF', 10, 1000],
  ])('the example for Stripe converts %s %d to %d minor units and back', async (currency, major, minor) => {
    const { decimalsOf, toMinor, toMajor } = await loadMoney();
    expect(toMinor(major, decimalsOf(currency))).toBe(minor);
    expect(toMajor(minor, decimalsOf(currency))).toBe(major);
  });

  it('the example for Stripe refuses amounts that have no exact value in minor units', async () => {
    const { decimalsOf, toMinor } = await loadMoney();
    expect(() => toMinor(9.999, decimalsOf('EUR'))).toThrow(RangeError);
    expect(() => toMinor(1.5, decimalsOf('JPY'))).toThrow(RangeError);
    expect(() => toMinor(1e14, decimalsOf('EUR'))).toThrow(RangeError);
    expect(() => decimalsOf('UGX')).toThrow(RangeError);
  });

  it('the example for Stripe names all faults of its settings and ends', async () => {
    const adapter = await startAdapter({ STRIPE_SECRET_KEY: '', SHOP_URL: 'shop', PORT: 'x' });
    expect(await adapter.ended).toBe(1);
    expect(adapter.output().trim().split('\n')).toEqual([
      'STRIPE_SECRET_KEY is missing',
      'SHOP_URL must be an http or https address, not shop',
      'SHOP_CLIENT_ID is missing',
      'SHOP_CLIENT_SECRET is missing',
      'PORT must be a whole number, 1 to 65535',
    ]);
  });
});
