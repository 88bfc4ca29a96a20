// Meets refusals, and a session whose access token is not valid any more.
import process from 'node:process';
import { createShop, isShopError, ShopError } from '@shop/client';

const [baseUrl, email, password] = process.argv.slice(2);
let tokens;
const renewals = [];
const first = createShop({ baseUrl, onTokens: (given) => (tokens = given) });
const refused = async (work, ...operations) => {
  const error = await work.then(
    () => 'no error',
    (thrown) => thrown,
  );
  return isShopError(error, ...operations) && error instanceof ShopError && typeof error.requestId === 'string'
    ? error.code
    : String(error);
};
const logIn = await refused(first.logIn({ email, password: 'another long river' }), 'issueToken');
await first.logIn({ email, password });
const { value: product } = await first.products({ status: 'available' }, { limit: 1 }).next();
const order = await refused(first.orders.place({ items: [{ productId: product.id, quantity: 999 }] }), 'createOrder');
const list = await refused(first.products({ brand: Array.from({ length: 101 }, (_, index) => `b${index}`) }).next());
const next = createShop({
  baseUrl,
  tokens: { ...tokens, access_token: 'not.valid.now' },
  onTokens: (given) => renewals.push(given?.access_token),
});
const account = { params: { path: { accountId: 'me' } } };
const answers = await Promise.all([
  next.call.GET('/v1/products', { params: { query: { limit: 1 } } }),
  ...[1, 2, 3].map(() => next.call.GET('/v1/accounts/{accountId}', account)),
]);
const caller = new AbortController();
caller.abort(new Error('enough'));
const aborted = await next.call.GET('/v1/orders', { signal: caller.signal }).catch(({ message }) => message);
console.log(
  JSON.stringify({
    logIn,
    order,
    list,
    statuses: answers.map(({ response }) => response.status),
    // That of the beginning, and one renewal for the four requests.
    tokens: renewals.length,
    aborted,
  }),
);
