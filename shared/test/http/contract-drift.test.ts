// The detection of contract drift over HTTP: its counts and logs. It has no effect on responses.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { loadContract } from '@shop/shared/contract';
import { createApp, type OperationRequest, type Result } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { createHealth, readConfig, share } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { pino } from 'pino';

const contract = loadContract(new URL('./sample.openapi.yaml', import.meta.url));

let server: Server;
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

interface Warning {
  readonly msg: string;
  readonly operationId: string;
  readonly status: number;
  readonly deviations: readonly string[];
  readonly checked: number;
  readonly drifted: number;
  readonly requestId: string;
}

/**
 * Starts a service whose operation listNotes sends the replies in turn. `warnings` contains its log.
 * @param isCached whether the replies may be cached, and are therefore compressed
 */
async function serviceOf(replies: readonly (Result<object> | Problem)[], contractWatch: number, isCached = false) {
  const warnings: Warning[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => warnings.push(JSON.parse(line)) });
  let count = 0;
  const unused = async (): Promise<Result<object>> => ({ status: 200 });
  const app = createApp({
    name: 'notes',
    contract,
    context: {},
    verifier: { known: () => undefined, verify: async () => undefined, close: async () => {} },
    health: createHealth(),
    log,
    contractWatch,
    operations: {
      createNote: unused,
      getNote: unused,
      pinNote: unused,
      markNote: unused,
      listNotes: async (request: OperationRequest) => {
        if (isCached) request.cacheWith(() => {});
        const result = replies[count++ % replies.length] ?? { status: 200 };
        if (result instanceof Problem) throw result;
        return result;
      },
    },
  });
  server = createServer(app);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { warnings, list: (headers: Record<string, string> = {}) => fetch(`${url}/v1/notes`, { headers }), url };
}

const conforming: Result<object> = { status: 200, body: { a: 1 } };

describe('the contract watch', () => {
  it('the contract watch reads a compressed body', async () => {
    const text = 'x'.repeat(2_000);
    const [valid, invalid] = [JSON.stringify({ text }), JSON.stringify([text])];
    const page = { status: 200, etag: '"1"' };
    const { warnings, list } = await serviceOf(
      [
        { ...page, json: valid },
        { ...page, json: invalid },
      ],
      1,
      true,
    );
    for (const json of [valid, invalid]) {
      const answer = await list();
      expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual(['gzip', json]);
    }
    await eventually(() => expect(warnings).toHaveLength(2));
    // The sample documents neither of these two header fields.
    const [headers = [], all = []] = warnings.map(({ deviations }) => deviations);
    expect(headers).toHaveLength(2);
    expect(all.filter((deviation) => !headers.includes(deviation))).toEqual([expect.stringContaining('object')]);
  });

  it('the contract watch warns of a status, a header and a body that the contract lacks, with figures and without contents', async () => {
    const { warnings, list } = await serviceOf(
      [
        conforming,
        { status: 202, body: { secret: 'x' } },
        { ...conforming, headers: { 'X-New': '1' } },
        { status: 200, json: '["secret"]' },
      ],
      1,
    );
    for (const status of [200, 202, 200, 200]) {
      const answer = await list({ 'X-Request-Id': 'r-1' });
      expect([answer.status, (await answer.text()).length > 0]).toEqual([status, true]);
    }
    await eventually(() => expect(warnings).toHaveLength(3));
    expect(warnings).toMatchObject([
      { msg: 'contract drift', operationId: 'listNotes', status: 202, requestId: 'r-1', checked: 2, drifted: 1 },
      { deviations: ['header x-new is not documented'], checked: 3, drifted: 2 },
      { status: 200, checked: 4, drifted: 3 },
    ]);
    expect(warnings[2]?.deviations).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain('secret');
  });

  it('the contract watch looks at error responses too, and accepts the headers of a deprecation on them', async () => {
    const { warnings, list } = await serviceOf(
      [new Problem('not-acceptable', 'No.'), new Problem('forbidden', 'No.')],
      1,
    );
    expect([(await list()).status, (await list()).status]).toEqual([406, 403]);
    await eventually(() => expect(warnings).toHaveLength(1));
    expect(warnings[0]?.deviations).toEqual(['status 403 is not documented']);
  });

  it('the contract watch reports nothing about responses without an operation, HEAD and 304', async () => {
    const { warnings, list, url } = await serviceOf(
      [{ ...conforming, etag: '"1"' }, new Problem('forbidden', 'No.')],
      1,
    );
    for (const [path, method] of [
      ['/health/live', 'GET'],
      ['/nowhere', 'GET'],
      ['/v1/notes', 'OPTIONS'],
    ] as const)
      await fetch(`${url}${path}`, { method });
    expect((await fetch(`${url}/v1/notes`, { method: 'HEAD' })).status).toBe(200);
    expect((await list()).status).toBe(403);
    await eventually(() => expect(warnings.at(-1)).toMatchObject({ status: 403, checked: 2 }));
    // HEAD with an undocumented ETag is a drift of its headers, and not of its body, which it cannot have.
    expect(warnings.map(({ deviations }) => deviations)).toEqual([
      ['header etag is not documented'],
      ['status 403 is not documented'],
    ]);
  });

  it('the contract watch skips responses in pieces, which are too large to store', async () => {
    const pieces = async function* () {
      yield '["no ';
      yield 'object"]';
    };
    const { warnings, list } = await serviceOf([{ status: 200, stream: pieces() }, new Problem('forbidden', 'No.')], 1);
    expect(await (await list()).json()).toEqual(['no object']);
    expect((await list()).status).toBe(403);
    await eventually(() => expect(warnings).toMatchObject([{ status: 403, checked: 1 }]));
  });

  it('the contract watch is off by default, and checks the configured fraction of responses', async () => {
    expect(readConfig({}, { watch: share('CONTRACT_WATCH', 0) })).toEqual({ watch: 0 });
    expect(readConfig({ CONTRACT_WATCH: '.01' }, { watch: share('CONTRACT_WATCH', 0) })).toEqual({ watch: 0.01 });
    for (const wrong of ['2', '-1', '1%', 'yes', '1e-2'])
      expect(() => readConfig({ CONTRACT_WATCH: wrong }, { watch: share('CONTRACT_WATCH', 0) })).toThrow(
        'CONTRACT_WATCH must be a share from 0 to 1',
      );

    const { warnings, list } = await serviceOf([{ status: 202, body: {} }], 0.5);
    for (let left = 200; left > 0; left--) await (await list()).text();
    await eventually(() => expect(warnings.length).toBeGreaterThan(50));
    expect(warnings.length).toBeLessThan(150);
  });
});
