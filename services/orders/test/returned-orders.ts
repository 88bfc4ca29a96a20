// Orders that have shipped, and the requests about their returns, for the tests of returns.
import type { TestAnswer } from '@shop/shared/testing';
import type { Customer, TestShop } from './shop.ts';

/** Units by product. */
type Units = Readonly<Record<string, number>>;

export interface ReturningShop {
  /** Places and pays an order, and moves it on. Returns its id. */
  ordered(items: Units, more?: object, until?: 'paid' | 'shipped' | 'delivered'): Promise<string>;
  /** Requests a return. */
  request(who: Customer, orderId: string, units: Units, more?: object): Promise<TestAnswer>;
  /** Requests a return as the customer. Returns its id. */
  requested(orderId: string, units: Units): Promise<string>;
  act(who: Customer, returnId: string, action: string, body?: object): Promise<TestAnswer>;
  /** Records that these units arrived, as staff. */
  receive(returnId: string, units: Units, restock?: boolean): Promise<TestAnswer>;
  view(who: Customer, returnId: string): Promise<TestAnswer>;
}

export function returningShop(shop: TestShop, customer: Customer): ReturningShop {
  const { orders, staff } = shop;
  const request: ReturningShop['request'] = (who, orderId, units, more = {}) => {
    const lines = Object.entries(units).map(([productId, quantity]) => ({ productId, quantity, reason: 'damaged' }));
    return orders.post(`/v1/orders/${orderId}/returns`, { token: who.token, body: { lines, ...more } });
  };
  const act: ReturningShop['act'] = (who, returnId, action, body) =>
    orders.post(`/v1/returns/${returnId}/${action}`, { token: who.token, body });
  return {
    async ordered(items, more = {}, until = 'delivered') {
      const lines = Object.entries(items).map(([productId, quantity]) => ({ productId, quantity }));
      const placed = await orders.post('/v1/orders', { token: customer.token, body: { items: lines, ...more } });
      const { id, totalCost, payment } = placed.body;
      if (payment !== undefined) {
        const body = { reference: `pay ${id}`, amount: totalCost, currency: 'EUR' };
        await shop.act(staff, id, 'payments', { body });
      }
      const steps = { paid: [], shipped: ['process', 'ship'], delivered: ['process', 'ship', 'deliver'] }[until];
      for (const step of steps) {
        const { status, text } = await shop.act(staff, id, step);
        if (status !== 200) throw new Error(text);
      }
      return id;
    },
    request,
    async requested(orderId, units) {
      const { status, body, text } = await request(customer, orderId, units);
      if (status !== 201) throw new Error(text);
      return body.id;
    },
    act,
    receive(returnId, units, restock = true) {
      const lines = Object.entries(units).map(([productId, quantity]) => ({ productId, quantity, restock }));
      return act(staff, returnId, 'receive', { lines });
    },
    view: (who, returnId) => orders.get(`/v1/returns/${returnId}`, { token: who.token }),
  };
}
