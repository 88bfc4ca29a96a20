// docs/filtering.md: every example has the result that the page shows.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestClient, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

const page = readFileSync(new URL('../../../docs/filtering.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/```\n((?:GET|POST) [^\n]+)\n([^`]*?)→ ?([^\n]*)\n```/g)].map(
  ([, request = '', body = '', outcome = '']) => ({ request, body, outcome }),
);
const table = page.slice(page.indexOf('| name | brand |')).split('\n\n')[0] ?? '';
const products = table
  .split('\n')
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, name = '', brand = '', category = '', price, rating, status = '']) => {
    return { name, brand, category, price: Number(price), ...(rating ? { rating: Number(rating) } : {}), status };
  });

let services: TestServices;
let client: TestClient;

beforeAll(async () => {
  services = await startServices(['catalogue']);
  client = services.service('catalogue').client;
  await addProducts(services, products);
});

afterAll(() => services.stop());

describe('the page', () => {
  it('the page has twenty-two examples, on six products', () => {
    expect(examples).toHaveLength(22);
    expect(products).toHaveLength(6);
  });

  it.each(examples)('the example $request $body has the documented result', async ({ request, body, outcome }) => {
    const [method = '', path = ''] = [request.slice(0, request.indexOf(' ')), request.slice(request.indexOf(' ') + 1)];
    const answer = await client.call(
      method,
      encodeURI(path),
      body ? { rawBody: body, headers: { 'Content-Type': 'application/json' } } : {},
    );
    const [status, parameter, position] = outcome.split(' ');
    if (status === '400') {
      const errors = [{ parameter, position: Number(position), detail: expect.any(String) }];
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request', errors } });
    } else {
      expect(answer.status).toBe(200);
      expect(answer.body.items.map(({ name }) => name).join(', ')).toBe(outcome);
    }
  });
});
