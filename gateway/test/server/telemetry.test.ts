// The gateway's telemetry: spans for a configured share of the traces, and metrics on a separate port.
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually, type OtlpReceiver, startOtlpReceiver } from '@shop/shared/testing';
import { spawnGateway, startGateway, type TestGateway } from '../start-gateway.ts';

const realConfig = fileURLToPath(new URL('../../config', import.meta.url));

let gateway: TestGateway | undefined;
let receiver: OtlpReceiver | undefined;
afterEach(async () => {
  await gateway?.stop();
  await receiver?.close();
});

async function startTraced(share: string): Promise<{ gateway: TestGateway; receiver: OtlpReceiver }> {
  receiver = await startOtlpReceiver();
  gateway = await startGateway({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_TRACES_SAMPLER_ARG: share,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  return { gateway, receiver };
}

const trace = '0af7651916cd43dd8448eb211c80319c';
const client = 'b7ad6b7169203331';

describe('spans', () => {
  it('spans continue the trace of the client, and the service continues them', async () => {
    const started = await startTraced('1');
    await fetch(`${started.gateway.url}/v1/products`, { headers: { traceparent: `00-${trace}-${client}-00` } });
    const spans = await eventually(async () => {
      const found = started.receiver.spans.filter(({ traceId }) => traceId === trace);
      expect(found).toHaveLength(2);
      return found;
    });
    const [server, forwarded] = [
      spans.find(({ parentSpanId }) => parentSpanId === client),
      spans.find(({ parentSpanId }) => parentSpanId !== client),
    ];
    expect(forwarded?.parentSpanId).toBe(server?.spanId);
    expect(started.gateway.service.seen.at(-1)?.headers.traceparent).toBe(`00-${trace}-${forwarded?.spanId}-01`);
  });

  it('spans are recorded for the configured fraction of traces, even when a client requests more', async () => {
    const started = await startTraced('0');
    await fetch(`${started.gateway.url}/v1/products`, { headers: { traceparent: `00-${trace}-${client}-01` } });
    const { traceparent } = started.gateway.service.seen.at(-1)?.headers ?? {};
    expect(traceparent).toMatch(new RegExp(`^00-${trace}-[0-9a-f]{16}-00$`));
  });
});

describe('metrics', () => {
  it('metrics are on their own port only, with routes and without paths', async () => {
    const [port = 0] = await freePorts(1);
    gateway = await startGateway({ METRICS_PORT: String(port) });
    const { client: shop, url } = gateway;
    await shop.get('/v1/products');
    await fetch(`${url}/v1/nothing/like-this`);
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect((await fetch(`http://127.0.0.1:${port}/v1/products`)).status).toBe(404);
    const text = await eventually(async () => {
      const answer = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(answer).toMatch(/^http_server_request_duration_count\{.*status_code="404".*\} 2$/m);
      return answer;
    });
    expect(text).toMatch(/^http_server_request_duration_count\{.*http_route="\/v1\/products".*\} 1$/m);
    expect(text).toMatch(/^http_client_request_duration_count\{.*server_address="\w+".*\} 1$/m);
    expect(text).toMatch(/^shop_breaker_open\{.*\} 0$/m);
    expect(text).not.toContain('like-this');
    expect(text).not.toContain('/health/ready');
  });

  it('metrics do not record open streams of the board, but record rejected ones', async () => {
    const [port = 0] = await freePorts(1);
    gateway = await startGateway({ GATEWAY_CONFIG_DIR: realConfig, METRICS_PORT: String(port) });
    const { issuer, url } = gateway;
    const headers = { Authorization: `Bearer ${await issuer.sign({ scopes: ['orders:read-all'] })}` };
    const watched = await fetch(`${url}/board/events`, { headers });
    expect(watched.status).toBe(200);
    await watched.body?.cancel();
    expect((await fetch(`${url}/board/events`)).status).toBe(401);
    await fetch(`${url}/v1/products`);
    const text = await eventually(async () => {
      const answer = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      expect(answer).toMatch(/^http_server_request_duration_count\{.*http_route="\/v1\/products".*\} 1$/m);
      return answer;
    });
    expect(text.match(/^http_server_request_duration_count\{.*\/board\/events.*$/gm)).toEqual([
      expect.stringContaining('status_code="401"'),
    ]);
  });

  it('metrics are not served without a configured port', async () => {
    gateway = await startGateway();
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(404);
  });

  it('the gateway does not start when the port of its metrics is taken', async () => {
    gateway = await startGateway();
    const { port, service, issuer } = gateway;
    const second = spawnGateway({
      GATEWAY_PORT: '0',
      METRICS_PORT: String(port),
      ACCOUNTS_URL: service.url,
      ORDERS_URL: service.url,
      CATALOGUE_URL: service.url,
      JWKS_URL: issuer.jwksUrl,
      JWT_ISSUER: issuer.issuer,
      JWT_AUDIENCE: issuer.audience,
    });
    const written: string[] = [];
    second.stderr?.on('data', (data) => written.push(String(data)));
    const [code] = await once(second, 'close');
    expect(code).toBe(1);
    expect(written.join('')).toBe(`gateway: cannot offer metrics on 127.0.0.1:${port} (the port is taken)\n`);
  });
});
