// Reads lists page after page, as items and as pages, and ends one of them early.
import process from 'node:process';
import { createShop } from '@shop/client';

const [baseUrl] = process.argv.slice(2);
let requests = 0;
const counted = (request) => {
  requests += 1;
  return fetch(request);
};
const shop = createShop({ baseUrl, fetch: counted });
const ids = new Set();
const sort = [{ field: 'name', direction: 'asc' }];
for await (const { id } of shop.products({ price: { gte: 0 } }, { sort, limit: 50 })) ids.add(id);
const whole = requests;
for await (const _product of shop.products({}, { limit: 2 })) break;
const afterOne = requests - whole;
const brands = [];
for await (const { items } of shop.pages('/v1/brands', { params: { query: { limit: 5 } } })) brands.push(...items);
const brandPages = requests - whole - afterOne;
let empty;
try {
  shop.products({ brand: [] });
} catch (error) {
  empty = error.name;
}
console.log(
  JSON.stringify({
    // Of the demo catalogue.
    hasProducts: ids.size > 50 && whole === Math.ceil(ids.size / 50),
    afterOne,
    hasBrands: brands.length > 5 && brandPages === Math.ceil(brands.length / 5),
    empty,
  }),
);
