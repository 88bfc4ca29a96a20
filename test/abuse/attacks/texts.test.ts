// JSON texts as bodies, and strings that often cause faults in every text field.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { CallOptions } from '@shop/shared/testing';
import { report } from './report.ts';
import { flawOf, forEach, type ServiceName, type Stage, startStage } from './stage.ts';

const read = (name: string): unknown => JSON.parse(readFileSync(new URL(`data/${name}`, import.meta.url), 'utf8'));
const jsonTexts = [
  ...(read('json-texts.json') as [string, string][]),
  ['n_structure_100000_opening_arrays', '['.repeat(100_000)],
  ['n_structure_open_array_object', '[{"":'.repeat(50_000)],
] as const;
const naughty = read('naughty-strings.json') as string[];
/** Bytes that are not UTF-8, as a body and inside a string. */
const invalidBytes = ['ff', 'c080', 'eda080', 'f8888080', '22ff22', '7b2261223a22ff227d', 'fffe5b005d00', 'efbbbfff'];

let stage: Stage;
beforeAll(async () => {
  stage = await startStage();
});
afterAll(() => stage?.stop());

type Target = readonly [service: ServiceName, method: string, path: string, token?: string];
const targets = (): Target[] => [
  ['accounts', 'POST', '/v1/accounts'],
  ['accounts', 'POST', '/v1/tokens'],
  ['accounts', 'PATCH', '/v1/accounts/me', stage.customer],
  ['orders', 'POST', '/v1/orders', stage.customer],
  ['orders', 'POST', `/v1/orders/${stage.orderId}/cancel`, stage.customer],
  ['catalogue', 'POST', '/v1/products/search'],
];

it('JSON texts are rejected as JSON exactly when they are not JSON', async () => {
  const bodies = [
    ...jsonTexts.map(([name, text]) => [name, text] as const),
    ...invalidBytes.map((bytes) => [`n_bytes_${bytes}`, new Uint8Array(Buffer.from(bytes, 'hex'))] as const),
  ];
  const attempts = targets().flatMap((target) => bodies.map(([name, rawBody]) => ({ target, name, rawBody })));
  const through = await forEach(attempts, async ({ target: [service, method, path, token], name, rawBody }) => {
    const about = `${method} ${path} ${name}`;
    try {
      const options = { rawBody, ...(token === undefined ? {} : { token }) };
      const answer = await stage.services.service(service).client.call(method, path, options);
      const flaw = flawOf(answer);
      if (flaw !== undefined) return `${about}: ${flaw}`;
      const malformed = /not valid JSON|not valid UTF-8/.test(String(answer.body?.detail));
      if (name.startsWith('n_') && answer.status < 400 && rawBody.length > 0) return `${about}: ${answer.status}`;
      if (name.startsWith('y_') && malformed) return `${about}: ${answer.text}`;
      return undefined;
    } catch (error) {
      return `${about}: ${error}`;
    }
  });
  report('JSON texts', attempts.length, through);
});

/** Returns the field that accepts a string, and the member of the response that contains it. */
function placesOf(
  text: string,
  index: number,
): { target: Target; options: CallOptions; shown?: (body: never) => unknown }[] {
  const { customer, staff, orderId } = stage;
  const address = { street_address: text, city: text, region: text, postal_code: text, country: text };
  const email = `naughty-${index}@shop.test`;
  const product = { name: text, brand: text, category: text, description: text, price: 1, status: 'active', stock: 1 };
  const query = encodeURIComponent(text.isWellFormed() ? text : '');
  return [
    {
      target: ['accounts', 'POST', '/v1/accounts'],
      options: { body: { email, name: text, password: 'a long and quiet river' } },
      shown: ({ name }: { name: string }) => [name],
    },
    { target: ['accounts', 'POST', '/v1/accounts'], options: { body: { email: text, name: 'x', password: text } } },
    { target: ['accounts', 'POST', '/v1/tokens'], options: { body: { email: text, password: text } } },
    { target: ['accounts', 'POST', '/v1/tokens/revoke'], options: { body: { refresh_token: text } } },
    { target: ['accounts', 'PATCH', '/v1/accounts/me', customer], options: { body: { phone_number: text } } },
    {
      target: ['accounts', 'PATCH', '/v1/accounts/me', customer],
      options: { body: { shipping_address: address } },
      shown: ({ shipping_address }: { shipping_address: typeof address }) => Object.values(shipping_address),
    },
    {
      target: ['catalogue', 'POST', '/v1/products', staff],
      options: { body: product },
      shown: ({ name, brand, category, description }: typeof product) => [name, brand, category, description],
    },
    { target: ['catalogue', 'POST', '/v1/products/search'], options: { body: { filters: { name: { eq: text } } } } },
    { target: ['catalogue', 'POST', '/v1/products/search'], options: { body: { [text]: 1, sort: [{ field: text }] } } },
    {
      target: ['catalogue', 'GET', `/v1/products?brand=${query}&${query}=1&sort=${query}&cursor=${query}`],
      options: {},
    },
    { target: ['orders', 'GET', `/v1/orders?status=${query}&accountId=${query}`, customer], options: {} },
    { target: ['orders', 'GET', `/v1/orders/${query.replaceAll('%2F', '') || 'x'}`, customer], options: {} },
    {
      target: ['orders', 'POST', `/v1/orders/${orderId}/cancel`, customer],
      options: { body: { cancellation_reason: text } },
    },
    // An HTTP client sends only some characters in a header field.
    ...(/[^\t\x20-\x7e\x80-\xff]/.test(text)
      ? []
      : [
          {
            target: ['orders', 'POST', `/v1/orders/${orderId}/cancel`, customer],
            options: { headers: { 'Idempotency-Key': text, 'If-Match': text, Prefer: text, 'X-Request-Id': text } },
          },
        ]),
  ] as ReturnType<typeof placesOf>;
}

it('naughty strings are stored and returned exactly, or rejected with a reason', async () => {
  const attempts = naughty.flatMap((text, index) => placesOf(text, index).map((place) => ({ text, ...place })));
  let returned = 0;
  const through = await forEach(attempts, async ({ text, target: [service, method, path, token], options, shown }) => {
    const about = `${method} ${path} ${JSON.stringify(text)}`;
    try {
      const client = stage.services.service(service).client;
      const answer = await client.call(method, path, { ...options, ...(token === undefined ? {} : { token }) });
      const flaw = flawOf(answer);
      if (flaw !== undefined) return `${about}: ${flaw}`;
      if (shown === undefined || answer.status >= 300) return undefined;
      returned += 1;
      const wrong = (shown(answer.body as never) as string[]).filter((each) => each !== text.normalize('NFC'));
      return wrong.length === 0 ? undefined : `${about}: returned as ${JSON.stringify(wrong[0])}`;
    } catch (error) {
      return `${about}: ${error}`;
    }
  });
  expect(returned).toBeGreaterThan(1_000);
  report('naughty strings', attempts.length, through);
});
