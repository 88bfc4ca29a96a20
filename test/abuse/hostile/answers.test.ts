// No request to an operation with a body or a query makes a service send a long response, respond slowly or run out of
// memory.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { staffScopes } from '@shop/accounts/operator/values';
import { loadContract, maxBodyBytes } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import { startServices, type TestServices } from '@shop/shared/testing';
import { hostileBodies } from '../../../shared/test/http/hostile-bodies.ts';
import { hostileQueries } from '../../../shared/test/http/hostile-queries.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const maxAnswer = 64 * 1024;

const operations = serviceNames.flatMap((service) =>
  loadContract(join(root, 'services', service, 'openapi.yaml'))
    .operations.filter(({ path }) => !path.startsWith('/internal/'))
    .map((operation) => ({ ...operation, service })),
);
const withBody = operations.flatMap(({ body, ...operation }) =>
  body === undefined ? [] : [{ ...operation, mediaType: body.mediaTypes[0] ?? '' }],
);

let shop: TestServices;
let token: string;
let accountId: string;

beforeAll(async () => {
  // The service has the memory limit of the smallest container.
  shop = await startServices(serviceNames, { environment: { NODE_OPTIONS: '--max-old-space-size=128' } });
  accountId = newId();
  token = await shop.issuer.sign({
    accountId,
    scopes: staffScopes,
  });
});
afterAll(() => shop?.stop());

const target = (path: string) => path.replace('{accountId}', accountId).replace(/\{\w+\}/, newId());

async function bytesOf(service: ServiceName, path: string, init: RequestInit): Promise<number> {
  const headers = { Authorization: `Bearer ${token}`, ...init.headers };
  const answer = await fetch(new URL(target(path), shop.service(service).url), { ...init, headers });
  expect(answer.status).toBeLessThan(500);
  if (answer.headers.get('content-type') !== 'text/event-stream') return (await answer.bytes()).length;
  // A stream has no end.
  await answer.body?.cancel();
  return 0;
}

describe.each(withBody)('$operationId', ({ service, path, method, mediaType, maxBytes = maxBodyBytes }) => {
  it.each(Object.entries(hostileBodies(maxBytes)))(
    'the response to a hostile body is small: %s',
    async (_name, body) => {
      const headers = { 'Content-Type': mediaType };
      expect(await bytesOf(service, path, { method: method.toUpperCase(), body, headers })).toBeLessThan(maxAnswer);
    },
  );
});

describe.each(operations.filter(({ method }) => method === 'get'))('$operationId', ({ service, path }) => {
  it.each(Object.entries(hostileQueries(15_000)))(
    'the response to a hostile query is small: %s',
    async (_name, query) => {
      expect(await bytesOf(service, `${path}?${query}`, {})).toBeLessThan(maxAnswer);
    },
  );
});

it('all services are still ready', async () => {
  for (const service of serviceNames) {
    expect((await shop.service(service).client.get('/health/ready')).status).toBe(200);
    expect(shop.service(service).output()).not.toMatch(/heap out of memory|internal-error/);
  }
});
