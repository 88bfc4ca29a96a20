// The exported metrics.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { createTokenVerifier } from '@shop/shared/auth';
import { loadContract } from '@shop/shared/contract';
import { createApp, type Result } from '@shop/shared/http';
import { createHealth } from '@shop/shared/runtime';
import { observe } from '@shop/shared/telemetry';
import { eventually } from '@shop/shared/testing';
import { pino } from 'pino';
import { measureWith } from '../../src/telemetry/instruments.ts';

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 600_000 });
const provider = new MeterProvider({ readers: [reader] });
const contract = loadContract(new URL('../http/sample.openapi.yaml', import.meta.url));

let server: Server;
let url: string;
let reply: Result<object> = { status: 200, body: { a: 1 } };

beforeAll(async () => {
  measureWith(provider.getMeter('test'));
  const unused = async (): Promise<Result<object>> => ({ status: 200 });
  const app = createApp({
    name: 'notes',
    contract,
    context: {},
    verifier: { known: () => undefined, verify: async () => undefined, close: async () => {} },
    health: createHealth(),
    log: pino({ level: 'silent' }),
    contractWatch: 1,
    operations: {
      createNote: unused,
      getNote: unused,
      pinNote: unused,
      markNote: unused,
      listNotes: async () => reply,
    },
  });
  server = createServer(app);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await provider.shutdown();
});

/** Returns the values of a metric by the text of their attributes. */
async function valuesOf(name: string): Promise<Record<string, unknown>> {
  exporter.reset();
  await reader.forceFlush();
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
  const points = metrics
    .filter(({ descriptor }) => descriptor.name === name)
    .flatMap((metric): readonly { readonly attributes: object; readonly value: unknown }[] => metric.dataPoints);
  return Object.fromEntries(points.map(({ attributes, value }) => [Object.values(attributes).join(' '), value]));
}

describe('the drift from the contract', () => {
  it('the drift from the contract is counted by operation, beginning with zero', async () => {
    expect(await valuesOf('shop.contract.drift')).toEqual({
      createNote: 0,
      getNote: 0,
      listNotes: 0,
      markNote: 0,
      pinNote: 0,
    });
    await fetch(`${url}/v1/notes`);
    reply = { status: 200, body: { a: 1 }, headers: { 'X-New': '1' } };
    await fetch(`${url}/v1/notes`);
    reply = { status: 202, body: { a: 1 } };
    await fetch(`${url}/v1/notes`);
    await eventually(async () => expect((await valuesOf('shop.contract.checked')).listNotes).toBe(3));
    const { listNotes } = await valuesOf('shop.contract.drift');
    expect(listNotes).toBe(2);
  });
});

describe('requests', () => {
  it('requests are counted by route, whatever the path', async () => {
    await fetch(`${url}/v1/nothing/${'x'.repeat(10)}`);
    await fetch(`${url}/health/live`);
    const counted = Object.keys(await valuesOf('http.server.request.duration'));
    expect(counted).toEqual(expect.arrayContaining(['GET 200 /v1/notes', 'GET 202 /v1/notes', 'GET 404']));
    expect(counted.join()).not.toMatch(/health|xxx/);
  });
});

describe('the age of the key set', () => {
  it('the age of the key set is reported since the start while no key set was read', async () => {
    const jwksUrl = 'http://127.0.0.1:9/jwks';
    const options = { jwksUrl, issuer: 'nobody', audience: 'nobody', log: pino({ level: 'silent' }) };
    const verifier = createTokenVerifier(options);
    const age = async () => Number(Object.values(await valuesOf('shop.key_set.age'))[0]);
    const first = await age();
    expect(first).toBeGreaterThanOrEqual(0);
    await eventually(async () => expect(await age()).toBeGreaterThan(first));
    await verifier.close();
  });
});

describe('a figure', () => {
  it('an unavailable figure is omitted, and does not prevent the others', async () => {
    observe('test.away', { unit: '1', description: 'Never there.' }, () => Promise.reject(new Error('away')));
    observe('test.here', { unit: '1', description: 'There.' }, (tell) => tell(7, { which: 'one' }));
    expect(await valuesOf('test.away')).toEqual({});
    expect(await valuesOf('test.here')).toEqual({ one: 7 });
  });

  it('a figure that hangs does not delay the others for longer than a second', async () => {
    let hangs = true;
    const never = new Promise<void>(() => {});
    observe('test.hangs', { unit: '1', description: 'Never comes.' }, () => (hangs ? never : undefined));
    expect(await valuesOf('test.here')).toEqual({ one: 7 });
    hangs = false;
  });
});
