// What orders cost beside their products in a benchmark: nothing, or shipping, taxes, and discounts of both kinds.
import type { BenchShop } from './shop.ts';

export type Prices = 'off' | 'on';

/** The variables of the shop, whose settings are those of the demo. */
export const priceVariables: Readonly<Record<Prices, Readonly<Record<string, string>>>> = {
  off: { TAXES: 'off' },
  on: {},
};

/**
 * Archives the settings of the demo, or adds a discount without a code and one with a code, whose uses are counted.
 * @returns the members that an order has beside its items
 */
export async function applyPrices(shop: BenchShop, prices: Prices): Promise<object> {
  const token = await shop.grant('settings:write');
  if (prices === 'on') {
    await shop.post('/v1/discounts', token, { name: 'Everything', kind: 'percent', value: 5, combinable: true });
    const counted = { kind: 'amount', value: 1, uses: 1_000_000_000, combinable: true };
    await shop.post('/v1/discounts', token, { name: 'Counted', code: 'BENCH', ...counted });
    return { discountCode: 'BENCH', shipping_address: { recipient: 'Ada', country: 'DE' } };
  }
  const headers = { Authorization: `Bearer ${token}` };
  for (const path of ['shipping-methods', 'tax-rates', 'discounts']) {
    const list = await fetch(`${shop.gateway}/v1/${path}`, { headers });
    const { items } = (await list.json()) as { items: readonly { id: string }[] };
    for (const { id } of items) {
      const { status } = await fetch(`${shop.gateway}/v1/${path}/${id}`, { method: 'DELETE', headers });
      if (status !== 204) throw new Error(`the archiving of ${path} ${id} was answered ${status}`);
    }
  }
  return {};
}
