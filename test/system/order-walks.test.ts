// Random walks of orders with every part of a price: placed, paid, cancelled in parts, shipped, returned in parts and
// paid back. After each walk the money adds up to the cent and the stock to the unit. ORDER_WALKS sets how many there
// are, and ORDER_WALKS_SEED which.
import { expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import { type AnswerBody, eventually, type TestAnswer } from '@shop/shared/testing';
import { booksOf } from '../../services/orders/test/payment-books.ts';
import { type Customer, startShop, type TestShop } from '../../services/orders/test/shop.ts';
import { createRandom, type Random } from '../faults/outages/random.ts';

const walks = Number(process.env.ORDER_WALKS ?? 60);
const seed = Number(process.env.ORDER_WALKS_SEED ?? 1);
const lanes = 6;
const initialStock = 1_000_000;
const codes = [{}, ...['PERCENT', 'AMOUNT', 'FREE', 'LIMITED'].map((discountCode) => ({ discountCode }))];
const addresses = [{}, ...['DE', 'AT', 'CH'].map((country) => ({ shipping_address: { country } }))];

/** One sequence of walks, with products of its own. */
interface Lane {
  readonly shop: TestShop;
  readonly customer: Customer;
  readonly staff: Customer;
  readonly random: Random;
  readonly products: readonly string[];
  /** Whether the price of shipping is kept when everything comes back. */
  readonly keepsShipping: boolean;
  /** The stock that each product must have. */
  readonly stock: Map<string, number>;
}

async function configure(shop: TestShop): Promise<void> {
  await shop.configure('tax-rates', { country: 'DE', rate: 19, name: 'MwSt.' });
  await shop.configure('tax-rates', { country: 'DE', category: 'reduced', rate: 7, name: 'MwSt.' });
  await shop.configure('tax-rates', { country: 'AT', rate: 20, name: 'USt.' });
  const parcel = { name: { de: 'Paket' }, price: 4.95, pricePerKilogram: 0.35, freeFrom: 80 };
  await shop.configure('shipping-methods', parcel);
  await shop.configure('shipping-methods', { name: { de: 'Express' }, countries: ['DE'], price: 13.33, position: 1 });
  await shop.configure('discounts', {
    name: 'Press',
    kind: 'percent',
    value: 3.33,
    appliesTo: { brands: ['Press'] },
    combinable: true,
  });
  const discounts = [
    { code: 'PERCENT', kind: 'percent', value: 12.5, combinable: true },
    { code: 'AMOUNT', kind: 'amount', value: 7.77, combinable: true },
    { code: 'FREE', kind: 'free-shipping' },
    { code: 'LIMITED', kind: 'percent', value: 50, uses: 1_000_000 },
  ];
  for (const discount of discounts) await shop.configure('discounts', { name: discount.code, ...discount });
}

async function openLane(shop: TestShop, index: number, keepsShipping: boolean): Promise<Lane> {
  const stock = initialStock;
  const products = [
    await shop.product({ stock, price: 0.01 }),
    await shop.product({ stock, price: 14.99, weight: 0.4 }),
    await shop.product({ stock, price: 20, weight: 1.2, taxCategory: 'reduced', brand: 'Press' }),
    await shop.product({ stock, price: 33.33, shipped: false }),
  ];
  // The usual tokens expire before many walks have ended.
  const withToken = async (...scopes: string[]): Promise<Customer> => {
    const accountId = newId();
    return { accountId, token: await shop.services.issuer.sign({ accountId, scopes, expiresIn: 86_400 }) };
  };
  const customer = await withToken();
  const staff = await withToken('orders:fulfil', 'payments:write');
  const random = createRandom(seed * 1_000 + index);
  return { shop, customer, staff, random, products, keepsShipping, stock: new Map(products.map((id) => [id, stock])) };
}

type Units = Map<string, number>;

/** Takes a random part of the units, at least one. */
function part(random: Random, units: Units): Units {
  const left = [...units].filter(([, quantity]) => quantity > 0);
  const some = left.filter(() => random.chance(0.6));
  const taken = some.length > 0 ? some : [random.pick(left)];
  return new Map(taken.map(([id, quantity]) => [id, random.integer(1, quantity)]));
}

function without(units: Units, taken: Units): Units {
  return new Map([...units].map(([id, quantity]) => [id, quantity - (taken.get(id) ?? 0)]));
}

const toLines = (units: Units) => [...units].map(([productId, quantity]) => ({ productId, quantity }));
const cents = (amount: unknown): number => Math.round(Number(amount ?? 0) * 100);
const sum = (amounts: readonly number[]): number => amounts.reduce((total, amount) => total + amount, 0);

interface Part {
  readonly price: number;
  readonly discount?: number;
  readonly tax?: number;
}

interface Price {
  readonly itemsSummary: readonly (Omit<Part, 'price'> & { readonly lineTotal: number })[];
  readonly shipping?: Part;
  readonly discounts?: readonly { readonly amount: number }[];
  readonly discountTotal?: number;
  readonly taxes?: readonly { readonly amount: number; readonly base: number }[];
  readonly taxTotal?: number;
  readonly pricesIncludeTax?: boolean;
  readonly totalCost: number;
}

/** Returns what does not add up in an order. */
function faultsOf(order: Price): string[] {
  const lines = order.itemsSummary.map((line): Part => ({ ...line, price: line.lineTotal }));
  const parts: Part[] = [...lines, ...(order.shipping ? [order.shipping] : [])];
  const price = sum(parts.map((each) => cents(each.price)));
  const discount = sum(parts.map((each) => cents(each.discount)));
  const tax = sum(parts.map((each) => cents(each.tax)));
  const added = order.pricesIncludeTax === false ? tax : 0;
  const sums: Record<string, readonly [number, number]> = {
    total: [cents(order.totalCost), price - discount + added],
    discounts: [cents(order.discountTotal), discount],
    discountList: [sum((order.discounts ?? []).map(({ amount }) => cents(amount))), discount],
    taxes: [cents(order.taxTotal), tax],
    taxList: [sum((order.taxes ?? []).map(({ amount }) => cents(amount))), tax],
  };
  return Object.entries(sums)
    .filter(([, [shown, calculated]]) => shown !== calculated)
    .map(([name, pair]) => `${name} ${pair}`);
}

async function walk(lane: Lane): Promise<void> {
  const { shop, customer, staff, random, products, stock } = lane;
  const { orders } = shop;
  // A busy machine can exceed the time limits between services; a request is then repeated with its key.
  const repeat = async (send: () => Promise<TestAnswer>, attempts = 5): Promise<AnswerBody> => {
    const answer = await send();
    if (answer.status === 503 && attempts > 0) return repeat(send, attempts - 1);
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  const call = ({ token }: Customer, path: string, body?: object): Promise<AnswerBody> => {
    const headers = { 'Idempotency-Key': newId() };
    return repeat(() => orders.post(`/v1/${path}`, { token, headers, ...(body && { body }) }));
  };
  const adds = (order: AnswerBody) => expect([order.id, faultsOf(order as unknown as Price)]).toEqual([order.id, []]);

  let units: Units = new Map();
  while (units.size === 0) {
    units = new Map(products.filter(() => random.chance(0.6)).map((id) => [id, random.integer(1, 7)]));
  }
  const body = { items: toLines(units), ...random.pick(codes), ...random.pick(addresses) };
  const order = await call(customer, 'orders', body);
  const { id } = order;
  adds(order);
  const pay = async (reference: string): Promise<void> => {
    const { totalCost } = await repeat(() => shop.view(customer, id));
    if (cents(totalCost) === 0) return;
    await call(staff, `orders/${id}/payments`, { reference, amount: totalCost, currency: 'EUR' });
  };
  const cancelPart = async (): Promise<void> => {
    if (sum([...units.values()]) === 0) return;
    const taken = part(random, units);
    adds(await call(customer, `orders/${id}/cancel`, { lines: toLines(taken) }));
    units = without(units, taken);
  };
  if (random.chance(0.3)) await cancelPart();
  const isOver = () => sum([...units.values()]) === 0;
  if (!isOver()) await pay(`first ${id}`);
  if (random.chance(0.1)) await pay(`second ${id}`);
  while (!isOver() && random.chance(0.4)) await cancelPart();
  if (!isOver() && random.chance(0.2)) {
    await call(customer, `orders/${id}/cancel`);
    units = new Map();
  }
  if (!isOver()) {
    for (const step of ['process', 'ship', ...(random.chance(0.7) ? ['deliver'] : [])])
      await call(staff, `orders/${id}/${step}`);
    for (const [product, quantity] of units) stock.set(product, (stock.get(product) ?? 0) - quantity);
    for (let times = random.integer(0, 3); times > 0 && !isOver(); times -= 1) {
      const everything = random.chance(0.4);
      const asked = new Map([...(everything ? units : part(random, units))].filter(([, quantity]) => quantity > 0));
      const lines = toLines(asked).map((line) => ({ ...line, reason: 'other' }));
      const request = await call(customer, `orders/${id}/returns`, { lines });
      const arrives = (quantity: number): number => (everything ? quantity : random.integer(0, quantity));
      const received = new Map([...asked].map(([product, quantity]) => [product, arrives(quantity)]));
      const arrived = toLines(received).map((line) => ({ ...line, restock: random.chance(0.7) }));
      await call(staff, `returns/${request.id}/receive`, { lines: arrived });
      for (const { productId, quantity, restock } of arrived)
        if (restock) stock.set(productId, (stock.get(productId) ?? 0) + quantity);
      units = without(units, received);
    }
  }
  const last = await repeat(() => shop.view(customer, id));
  adds(last);
  const due = cents((last as { payment?: { refundDue?: number } }).payment?.refundDue);
  if (due > 0 && random.chance(0.7)) {
    const amount = random.chance(0.5) ? due : random.integer(1, due);
    await call(staff, `orders/${id}/refunds`, { reference: `refund ${id}`, amount: amount / 100, currency: 'EUR' });
  }
  const books = await booksOf(shop.services.service('orders').database, [id]);
  expect([id, books.faults]).toEqual([id, []]);
  // Nothing is left, so the shop has at most the price of shipping.
  if (isOver() && books.received > 0) {
    const { status, shipping, pricesIncludeTax } = last as unknown as Price & { status: string };
    const added = pricesIncludeTax === true ? 0 : cents(shipping?.tax);
    const ofShipping = cents(shipping?.price) - cents(shipping?.discount) + added;
    expect([id, books.kept]).toEqual([id, lane.keepsShipping && status !== 'cancelled' ? ofShipping : 0]);
  }
  await eventually(async () => {
    for (const product of products)
      expect(await shop.stockOf(product)).toEqual({ stock: stock.get(product), reserved: 0, oversold: 0 });
  }, 20_000);
}

it.each(['included', 'added'])(
  'after each random walk of orders with taxes %s, the money adds up to the cent and the stock to the unit',
  async (taxes) => {
    const returnShipping = taxes === 'added' ? 'keep' : 'refund';
    const environment = { TAXES: taxes, SHOP_COUNTRY: 'DE', PAYMENTS: 'required', RETURN_SHIPPING: returnShipping };
    const shop = await startShop({ environment });
    try {
      await configure(shop);
      let left = Math.ceil(walks / 2);
      const run = async (index: number): Promise<void> => {
        const lane = await openLane(shop, index, returnShipping === 'keep');
        while (left > 0) {
          left -= 1;
          await walk(lane);
        }
      };
      await Promise.all(Array.from({ length: lanes }, (_, index) => run(index)));
    } finally {
      await shop.stop();
    }
  },
  60_000 + walks * 2_000,
);
