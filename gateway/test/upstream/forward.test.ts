// The request as the service gets it, and the response as the client gets it.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendRaw } from '../raw.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const last = () => gateway.service.seen.at(-1);

describe('forwarding', () => {
  it('the gateway forwards method, path, query, body and end-to-end header fields', async () => {
    const answer = await gateway.client.post('/v1/products/search?x=%41', {
      rawBody: '{"a": 1}',
      headers: { Prefer: 'return=minimal', 'Idempotency-Key': 'k-1' },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: { method: 'POST', url: '/v1/products/search?x=%41', body: '{"a": 1}' },
    });
    expect(last()?.headers).toMatchObject({
      prefer: 'return=minimal',
      'idempotency-key': 'k-1',
      'content-length': '8',
    });
  });

  it('the gateway joins a body that arrives byte by byte', async () => {
    const sent = Array.from({ length: 3_000 }, (_, index) => String.fromCharCode(33 + (index % 94))).join('');
    const pieces = sent.replace(/./gs, '1\r\n$&\r\n');
    const head = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nConnection: close\r\nTransfer-Encoding: chunked';
    const { answers } = await sendRaw(gateway.port, `${head}\r\n\r\n${pieces}0\r\n\r\n`, 5_000);
    expect(answers[0]).toMatchObject({ status: 200 });
    expect(last()).toMatchObject({ body: sent, headers: { 'content-length': '3000' } });
  });

  it('the gateway returns status, header fields and body, without hop-by-hop fields and product names', async () => {
    gateway.service.answer = (_request, response) => {
      response.writeHead(409, {
        'Content-Type': 'application/problem+json',
        ETag: '"3"',
        Server: 'x',
        'X-Powered-By': 'y',
        Link: ['<a>', '<b>'],
      });
      response.end(
        '{"code":"order-already-shipped","type":"/problems/order-already-shipped","status":409,' +
          '"title":"t","detail":"d","instance":"i"}',
      );
    };
    const answer = await gateway.client.get('/v1/products/1');
    expect(answer.status).toBe(409);
    expect(answer.headers).toMatchObject({ etag: '"3"', link: '<a>, <b>', 'x-content-type-options': 'nosniff' });
    expect(answer.headers).not.toHaveProperty('server');
    expect(answer.headers).not.toHaveProperty('x-powered-by');
  });

  it('the gateway sends the Content-Security-Policy of a page of a service in place of its own', async () => {
    const policy = "default-src 'none'; style-src 'sha256-x'";
    gateway.service.answer = (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Security-Policy': policy }).end('<p>page</p>');
    };
    const { headers, text } = await gateway.client.get('/v1/products/1');
    expect([headers['content-security-policy'], text]).toEqual([policy, '<p>page</p>']);
  });

  const raw = (answer: string) => {
    gateway.service.answer = (request) => void request.socket.write(answer.replaceAll('\n', '\r\n'));
    return gateway.client.get('/v1/products/1');
  };

  it('the gateway drops the fields that any Connection line of the response names', async () => {
    const { status, headers } = await raw(
      'HTTP/1.1 200 OK\nConnection: X-Inside\nConnection: keep-alive, x-within\nX-Inside: a\nX-Within: ' +
        'b\nX-Open: c\nContent-Length: 0\n\n',
    );
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'x-open': 'c' });
    expect(headers).not.toHaveProperty('x-inside');
    expect(headers).not.toHaveProperty('x-within');
  });

  it('the gateway sends no Content-Length without content', async () => {
    const { status, headers } = await raw('HTTP/1.1 204 No Content\nContent-Length: 5\nX-Open: c\n\n');
    expect(status).toBe(204);
    expect(headers).toMatchObject({ 'x-open': 'c' });
    expect(headers).not.toHaveProperty('content-length');
  });
});
