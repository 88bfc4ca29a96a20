// No body costs a service much more processor time than the cheapest accepted one of the same size, so no client can
// slow down the others.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadContract } from '@shop/shared/contract';
import { freePorts } from '@shop/shared/embedded';
import { newId } from '@shop/shared/runtime';
import { serviceFolder, startServices, type TestServices } from '@shop/shared/testing';
import { hostileBodies } from '../../../shared/test/http/hostile-bodies.ts';
import { costOf } from './processor-time.ts';

const requests = 30;
const tries = 3;
const mostTimes = 3;
const contract = loadContract(`${serviceFolder('catalogue')}/openapi.yaml`);

/** An operation without a token, and the operation with the largest body. */
const operations = [
  { operationId: 'searchProducts', method: 'POST', path: '/v1/products/search', type: 'application/json', plain: '{}' },
  {
    operationId: 'updateProduct',
    method: 'PATCH',
    path: '/v1/products/{productId}',
    type: 'application/merge-patch+json',
    plain: '{"stock":7}',
  },
] as const;
type Operation = (typeof operations)[number];

let services: TestServices;
let token: string;
let productId: string;
let metrics: string;

beforeAll(async () => {
  services = await startServices(['catalogue'], { shared: false });
  const [port = 0] = await freePorts(1);
  metrics = `http://127.0.0.1:${port}/metrics`;
  const catalogue = services.service('catalogue');
  await catalogue.restart({ METRICS_PORT: String(port), METRICS_HOST: '127.0.0.1' });
  token = await services.issuer.sign({ accountId: newId(), scopes: ['catalogue:write'] });
  const body = { name: 'Cup', brand: 'Acme', category: 'Kitchen', price: 9.99, stock: 5 };
  productId = (await catalogue.client.post('/v1/products', { token, body })).body.id;
});
afterAll(() => services?.stop());

async function send({ method, path, type }: Operation, body: string): Promise<number> {
  const answer = await fetch(new URL(path.replace('{productId}', productId), services.service('catalogue').url), {
    method,
    headers: { 'Content-Type': type, Authorization: `Bearer ${token}` },
    body,
  });
  await answer.bytes();
  return answer.status;
}

describe.each(operations)('$operationId', (operation) => {
  const bytes = contract.operations.find(({ operationId }) => operationId === operation.operationId)?.maxBytes ?? 0;
  const accepted = operation.plain.padEnd(bytes);
  const costOfBody = (body: string) => costOf(metrics, requests, () => send(operation, body));

  /**
   * Returns the ratio to the cost of the accepted body: the first one that is small enough, or the smallest of several.
   * Both costs of a ratio are measured one after the other, because the speed of the machine changes within seconds.
   */
  async function leastRatio(body: string): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < tries && least >= mostTimes; attempt += 1) {
      const plain = await costOfBody(accepted);
      least = Math.min(least, (await costOfBody(body)) / plain);
    }
    return least;
  }

  beforeAll(async () => {
    expect(await send(operation, accepted)).toBe(200);
    for (let attempt = 0; attempt < tries; attempt += 1) await costOfBody(accepted);
  });

  it.each(Object.entries(hostileBodies(bytes)))(
    'rejecting the body costs few times as much as accepting a valid one: %s',
    async (_name, body) => {
      expect(await send(operation, body)).toBeLessThan(500);
      expect(await leastRatio(body)).toBeLessThan(mostTimes);
    },
  );
});
