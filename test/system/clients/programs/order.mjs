// Orders a product, finds the order, cancels it with a key of its own, and waits until its units have returned to stock.
import process from 'node:process';
import { createShop } from '@shop/client';

const [baseUrl, email, password] = process.argv.slice(2);
const shop = createShop({ baseUrl });
await shop.logIn({ email, password });
const { value: product } = await shop.products({ status: 'available' }, { fields: ['id'], limit: 1 }).next();
const placed = await shop.orders.place({ items: [{ productId: product.id, quantity: 2 }] });
const listed = [];
for await (const order of shop.orders({ status: 'pending' }, { fields: ['id'] })) listed.push(order.id);
const options = { idempotencyKey: crypto.randomUUID() };
const cancelled = await shop.orders.cancel(placed.id, { cancellation_reason: 'A test' }, options);
const repeated = await shop.orders.cancel(placed.id, { cancellation_reason: 'A test' }, options);
const done = await shop.orders.waitFor(placed.id, ['stockReleased'], { timeout: 30_000 });
const missed = await shop.orders.waitFor(placed.id, 'shipped').catch(({ name, reason }) => [name, reason]);
await shop.logOut();
const { response } = await shop.call.GET('/v1/orders');
console.log(
  JSON.stringify({
    placed: placed.status,
    isListed: listed.includes(placed.id),
    cancelled: cancelled.status,
    isSame: JSON.stringify(cancelled) === JSON.stringify(repeated),
    stock: done.cancellation?.stockReleased.state,
    missed,
    afterLogOut: response.status,
  }),
);
