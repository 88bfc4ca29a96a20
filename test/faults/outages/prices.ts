// What an order costs beside its products: shipping and taxes in all rounds, and discounts with limited uses in each one.
import { newId } from '@shop/shared/runtime';
import { type Buyer, type Journal, untilClear } from './journal.ts';

/** The variables of orders. */
export const priceVariables = {
  TAXES: 'included',
  SHOP_COUNTRY: 'DE',
  RETURN_SHIPPING: 'refund',
  SELLER_NAME: 'The shop of the tests',
};

/** What a round offers beside its products. */
export interface Sale {
  readonly staff: Buyer;
  /** The codes of discounts. */
  readonly codes: readonly string[];
}

export async function configurePrices(gatewayUrl: string, staff: Buyer): Promise<void> {
  const add = adder(gatewayUrl, staff);
  await add('tax-rates', { country: 'DE', rate: 19, name: 'MwSt.' });
  await add('tax-rates', { country: 'DE', category: 'reduced', rate: 7, name: 'MwSt.' });
  await add('tax-rates', { country: 'AT', rate: 20, name: 'USt.' });
  await add('shipping-methods', { name: { de: 'Paket' }, price: 4.95, pricePerKilogram: 0.35, freeFrom: 30 });
  await add('shipping-methods', { name: { de: 'Express' }, countries: ['DE'], price: 13.33, position: 1 });
}

/**
 * Adds two discounts with codes and one without, all with fewer uses than a round has orders.
 * @param mark distinguishes the codes of the round
 */
export async function openSale(
  gatewayUrl: string,
  staff: Buyer,
  productIds: readonly string[],
  mark: string | number,
): Promise<Sale> {
  const add = adder(gatewayUrl, staff);
  const common = { combinable: true, appliesTo: { productIds } };
  const codes = [`ALL-${mark}`, `EACH-${mark}`] as const;
  const [all, each] = codes;
  await add('discounts', { ...common, name: 'All', code: all, kind: 'percent', value: 12.5, uses: 3 });
  await add('discounts', { ...common, name: 'Each', code: each, kind: 'amount', value: 1.11, usesPerAccount: 1 });
  const first = { ...common, name: 'First', kind: 'percent', value: 3.33, uses: 5, usesPerAccount: 2 };
  await add('discounts', { ...first, appliesTo: { productIds: productIds.slice(0, 6) } });
  return { staff, codes };
}

/** A request whose answer is lost is repeated with the same key. */
function adder(gatewayUrl: string, { token }: Buyer): (path: string, body: object) => Promise<void> {
  return async (path, body) => {
    const journal: Journal = { answers: [], orders: [], accounts: [] };
    const answer = await untilClear(journal, 'settings', `${gatewayUrl}/v1/${path}`, { token, key: newId(), body });
    if (answer.status !== 201) throw new Error(`${path} answered ${answer.status} ${answer.body}`);
  };
}
