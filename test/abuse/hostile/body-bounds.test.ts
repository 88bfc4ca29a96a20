// Every operation accepts the largest body that its contract permits. A body with one more byte than the limit is
// refused before it is read.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { staffScopes } from '@shop/accounts/operator/values';
import { createServiceTokens } from '@shop/shared/auth';
import { type ContractOperation, dereference, loadContract, toNode } from '@shop/shared/contract';
import { Problem } from '@shop/shared/problem';
import { newId } from '@shop/shared/runtime';
import { serviceNames } from '@shop/shared/shop';
import { startServices, type TestServices } from '@shop/shared/testing';
import { largestFile } from '../../../gateway/src/entry/request-body.ts';
import { startGateway, type TestGateway } from '../../../gateway/test/start-gateway.ts';
import { largestBody } from './largest-body.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const tokens = createServiceTokens({ secrets: ['only-for-tests-only-for-tests-only-for-tests'], name: 'tests' });
const names = serviceNames;

/** The status with which the service answers the largest body. It is never a refusal of the size. */
const answers: Readonly<Record<string, number>> = {
  registerAccount: 201,
  updateAccount: 404,
  blockAccount: 404,
  unblockAccount: 404,
  endAccountSessions: 404,
  sendPasswordReset: 404,
  setTaxId: 404,
  issueToken: 401,
  revokeToken: 204,
  createOrder: 409,
  quoteOrder: 200,
  createReturn: 404,
  refuseReturn: 404,
  receiveReturn: 404,
  eraseAccount: 404,
  cancelOrder: 404,
  recordPayment: 404,
  recordRefund: 404,
  shipOrder: 404,
  resolveReservation: 200,
  exportOrders: 200,
  exportEmails: 200,
  exportWebhooks: 200,
  createShippingMethod: 201,
  updateShippingMethod: 404,
  createTaxRate: 201,
  updateTaxRate: 404,
  createDiscount: 201,
  updateDiscount: 404,
  createProduct: 201,
  importProducts: 202,
  updateProduct: 404,
  searchProducts: 200,
  priceProducts: 200,
  reserveStock: 422,
  allocateStock: 204,
  requestPasswordReset: 202,
  // The token was never issued, so the problem is `invalid-token`.
  verifyEmail: 400,
  undoEmailChange: 400,
  confirmPasswordReset: 400,
  readScopes: 200,
  createWebhook: 201,
  updateWebhook: 404,
  replayWebhook: 404,
};

/** The body of a search has no largest valid form. The values of its longest list fill it to the limit. */
const longestSearch = JSON.stringify({
  filters: { brand: { in: Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(100, 'x')) } },
});

const cases = names.flatMap((service) => {
  const { document, operations } = loadContract(join(root, 'services', service, 'openapi.yaml'));
  return operations
    .filter(({ body }) => body !== undefined)
    .map((operation) => ({ service, ...operation, largest: largestOf(document, operation) }));
});

function largestOf(document: Readonly<Record<string, unknown>>, operation: ContractOperation): string {
  const { operationId, path, method, check, takesFile } = operation;
  // A file has no maximum length of a line.
  if (takesFile) return '{}\n';
  if (operationId === 'searchProducts') return longestSearch;
  const content = dereference(document, toNode(toNode(toNode(document.paths)[path])[method]).requestBody).content;
  const [{ schema } = {}] = Object.values(toNode(content)).map(toNode);
  const parameters = Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => [name, newId()]));
  const text = largestBody(document, schema, (body) => {
    try {
      return check({ url: path, path: parameters, headers: {}, body }).faults.length === 0;
    } catch (error) {
      if (error instanceof Problem) return false;
      throw error;
    }
  });
  // The members exclude each other by their values, and each code exists once.
  return operationId === 'createDiscount' ? text.replaceAll(/\n {2}"(?:code|value|until)": .*/g, '') : text;
}

let shop: TestServices;
let gateway: TestGateway;
const accountId = newId();

beforeAll(async () => {
  const config = join(root, 'gateway/config');
  [shop, gateway] = await Promise.all([
    startServices(names, { shared: false }),
    startGateway({ GATEWAY_CONFIG_DIR: config }),
  ]);
});
afterAll(() => Promise.all([shop?.stop(), gateway?.stop()]));

type Case = (typeof cases)[number];

async function send(base: string, token: string, { service, ...operation }: Case, text: string, isChunked = false) {
  const { method, path, body, security } = operation;
  const target = path.replace('{accountId}', accountId).replace(/\{\w+\}/, newId());
  const call = { method: method.toUpperCase(), path: target, body: text };
  const authorization = security.access === 'service' ? tokens.sign(service, call) : `Bearer ${token}`;
  const answer = await fetch(new URL(target, base), {
    method: call.method,
    headers: { 'Content-Type': body?.mediaTypes[0] ?? '', Authorization: authorization },
    body: isChunked ? new Blob([text]).stream() : text,
    duplex: 'half',
  } as RequestInit);
  const received = await answer.text();
  const { code, detail } = (received === '' ? {} : JSON.parse(received)) as { code?: string; detail?: string };
  return { status: answer.status, code, detail };
}

/** Adds blanks to a body, up to a number of bytes. */
const padded = (text: string, bytes: number) => text + ' '.repeat(Math.max(0, bytes - Buffer.byteLength(text)));
const tooLarge = (bytes: number) => ({ status: 413, detail: `The body is larger than ${bytes} bytes.` });
const framings: [string, boolean][] = [
  ['announced', false],
  ['without a length', true],
];

describe.each(cases)('$operationId', (operation) => {
  const { service, operationId, maxBytes = 0, takesFile, largest } = operation;

  it('the body of an operation has a bound in its contract that is enough for the largest body', () => {
    expect(maxBytes).toBeGreaterThanOrEqual(Buffer.byteLength(largest));
    expect(maxBytes).toBeLessThanOrEqual(takesFile ? largestFile : 100 * 1024);
  });

  it.each(framings)(
    'the service accepts the largest body up to the limit of the operation, and no more, %s',
    async (_name, isChunked) => {
      const token = await shop.issuer.sign({ accountId, scopes: staffScopes });
      const { url } = shop.service(service);
      // An e-mail address can be registered once, and a sku and a variant used once, so letters differ in each framing.
      const text = largest
        .replaceAll('\\ud840', isChunked ? '\\ud841' : '\\ud842')
        .replaceAll('\u{20000}', isChunked ? '\u{20001}' : '\u{20002}');
      const { status, code, detail } = await send(url, token, operation, padded(text, maxBytes), isChunked);
      expect({ status, detail }).toEqual({ status: answers[operationId], detail });
      expect(code).not.toBe('invalid-request');
      expect(await send(url, token, operation, padded(text, maxBytes + 1), isChunked)).toMatchObject(
        tooLarge(maxBytes),
      );
    },
  );
});

describe.each(cases.filter(({ internal }) => !internal))('$operationId', (operation) => {
  const { maxBytes = 0, largest } = operation;

  it.each(framings)(
    'the gateway forwards the largest body up to the limit of the operation, and no more, %s',
    async (_name, isChunked) => {
      const token = await gateway.issuer.sign({ accountId, scopes: staffScopes });
      const { seen } = gateway.service;
      const text = padded(largest, maxBytes);
      expect(await send(gateway.url, token, operation, text, isChunked)).toMatchObject({ status: 200 });
      expect(seen.at(-1)?.body).toBe(text);
      const before = seen.length;
      expect(await send(gateway.url, token, operation, `${text} `, isChunked)).toMatchObject(tooLarge(maxBytes));
      expect(seen.length).toBe(before);
    },
  );
});

it('the test covers every operation with a body', () => {
  expect(cases.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(answers).sort());
});
