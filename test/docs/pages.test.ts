// The gateway serves the documentation: types, caching, content security, and valid links.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problems } from '@shop/shared/problem';
import { guideNames } from '../../gateway/plugin/pages/docs/documentation.ts';
import { startGateway, type TestGateway } from '../../gateway/test/start-gateway.ts';

const folder = fileURLToPath(new URL('../../gateway/config', import.meta.url));
const pages = ['/docs', ...guideNames.map((name) => `/docs/${name}`)];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: folder, TRUSTED_PROXIES: '1' });
});
afterAll(() => gateway.stop());

let turn = 0;
/** Each request has another client address, because following every link exceeds the limit of one address. */
const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> => {
  turn += 1;
  const from = { 'X-Forwarded-For': `203.0.113.${turn % 250}` };
  return fetch(new URL(path, gateway.url), { method, headers: { 'Accept-Encoding': 'identity', ...from, ...headers } });
};

const attributes = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, value = '']) => value.replaceAll('&amp;', '&'));

describe('/v1/openapi.json', () => {
  it('is JSON with a strong entity tag and a short caching time, and is revalidated with 304', async () => {
    const first = await get('/v1/openapi.json');
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('application/json');
    expect(first.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]+"$/);
    expect(await first.json()).toMatchObject({ openapi: '3.1.0', servers: [{ url: '/' }] });
    const second = await get('/v1/openapi.json', { 'If-None-Match': etag });
    expect([second.status, second.headers.get('etag'), await second.text()]).toEqual([304, etag, '']);
  });

  it('is compressed for clients that accept it, with a separate entity tag', async () => {
    const plain = await get('/v1/openapi.json');
    const small = await get('/v1/openapi.json', { 'Accept-Encoding': 'br, gzip' });
    expect(small.headers.get('content-encoding')).toBe('gzip');
    expect(small.headers.get('vary')).toBe('Accept-Encoding');
    expect(small.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    expect(Number(small.headers.get('content-length'))).toBeLessThan(Number(plain.headers.get('content-length')) / 4);
    expect(await small.text()).toBe(await plain.text());
    const unwanted = await get('/v1/openapi.json', { 'Accept-Encoding': 'gzip;q=0' });
    expect(unwanted.headers.get('content-encoding')).toBeNull();
  });

  it('answers HEAD and OPTIONS, and refuses other methods', async () => {
    const head = await get('/v1/openapi.json', {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    const options = await get('/v1/openapi.json', {}, 'OPTIONS');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const post = await get('/v1/openapi.json', {}, 'POST');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await get('/v1/openapi.yaml')).status).toBe(404);
  });
});

describe('the pages', () => {
  it.each(pages)('%s permits only its own files', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; /);
    expect(policy).not.toMatch(/unsafe|http|\*/);
    expect(policy.includes("script-src 'self'")).toBe(path === '/docs');
    const html = await response.text();
    expect(html).not.toMatch(/<style|<script(?! src="\/docs\/assets\/)| style="| on\w+="/);
  });

  it.each(pages)('%s has only valid links', async (path) => {
    const html = await (await get(path)).text();
    const targets = new Set(attributes(html).filter((target) => !/^https:\/\//.test(target)));
    for (const target of targets) {
      const { pathname, hash } = new URL(target, new URL(path, gateway.url));
      const response = await get(pathname);
      expect([target, response.status]).toEqual([target, 200]);
      if (hash !== '')
        expect([target, await response.text()]).toEqual([target, expect.stringContaining(` id="${hash.slice(1)}"`)]);
    }
    expect(targets.size).toBeGreaterThan(5);
  });

  it('have only files of the gateway, each under the digest of its content', async () => {
    const html = await (await get('/docs')).text();
    const assets = attributes(html).filter((target) => target.startsWith('/docs/assets/'));
    expect(assets).toHaveLength(5);
    for (const address of assets) {
      const response = await get(address);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const digest = createHash('sha256')
        .update(Buffer.from(await response.arrayBuffer()))
        .digest('hex');
      expect(digest.startsWith(address.split('/')[3] ?? '?')).toBe(true);
    }
    expect((await get('/docs/assets/000000000000/style.css')).status).toBe(404);
  });

  it('list every problem, and every event with its sender and its consumers', async () => {
    const errors = await (await get('/docs/errors')).text();
    for (const code of Object.keys(problems)) expect(errors).toContain(`href="/problems/${code}"`);
    const events = await (await get('/docs/events')).text();
    for (const type of ['account.registered.v1', 'order.created.v1', 'order.cancelled.v1', 'stock.released.v1'])
      expect(events).toContain(`id="${type.replaceAll('.', '-')}"`);
    expect(events).toMatch(
      /An order was cancelled.*?Sent by <strong>orders<\/strong>.*?<strong>catalogue<\/strong> releases the stock/s,
    );
    expect(errors + events).not.toContain('<!-- ');
  });

  it('state for every problem whether to send the request again', async () => {
    const errors = await (await get('/docs/errors')).text();
    const answers = [...errors.matchAll(/<tr>\s*<td>(.*?)<\/td>/gs)].map(([, cell = '']) => cell);
    const unsaid = Object.entries(problems).filter(
      ([code, { status }]) =>
        !answers.some((cell) => cell.includes(`${status}`) && (!cell.includes('<code>') || cell.includes(`>${code}<`))),
    );
    expect(unsaid).toEqual([]);
  });
});
