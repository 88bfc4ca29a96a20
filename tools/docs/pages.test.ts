// The gateway serves the documentation: types, caching, content security, and valid links.
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { problems } from '@shop/shared/problem';
import { startGateway, type TestGateway } from '../../gateway/test/start-gateway.ts';
import { guideNames, operatorGuideNames } from '../../web/src/docs/chapters.ts';

const folder = fileURLToPath(new URL('../../gateway/config', import.meta.url));
const guides = [...guideNames, ...operatorGuideNames, 'runbooks', 'runbooks/dead-letters'];
const pages = ['/docs', '/docs/reference', '/docs/changelog', ...guides.map((name) => `/docs/${name}`)];

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
  return fetch(new URL(path, gateway.url), {
    method,
    headers: { 'Accept-Encoding': 'identity', ...from, ...headers },
    redirect: 'manual',
  });
};

const attributes = (html: string): string[] =>
  [...html.matchAll(/ (?:href|src)="([^"]*)"/g)].map(([, value = '']) => value.replaceAll('&amp;', '&'));

describe('/v1/openapi.json', () => {
  it('/v1/openapi.json is JSON with a strong entity tag and a short caching time, and is revalidated with 304', async () => {
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

  it('/v1/openapi.json is compressed for clients that accept it, with a separate entity tag', async () => {
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

  it('/v1/openapi.json supports HEAD and OPTIONS, and rejects other methods', async () => {
    const head = await get('/v1/openapi.json', {}, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    const options = await get('/v1/openapi.json', {}, 'OPTIONS');
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, OPTIONS']);
    const post = await get('/v1/openapi.json', {}, 'POST');
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await get('/v1/openapi.yaml')).status).toBe(404);
  });
});

/** Path → HTML. Most pages link to most others. */
const seen = new Map<string, Promise<{ status: number; type: string; text: string }>>();
function page(path: string) {
  let found = seen.get(path);
  if (found === undefined) {
    found = get(path, { Accept: 'text/html' }).then(async (response) => ({
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: await response.text(),
    }));
    seen.set(path, found);
  }
  return found;
}

/** The pages that the list of all pages names. */
async function allPages(): Promise<string[]> {
  const { text } = await page('/docs');
  const [, list = ''] = /<nav id="all-pages"(.*?)<\/nav>/s.exec(text) ?? [];
  return ['/docs', ...new Set(attributes(list).map((target) => target.replace(/#.*/, '')))];
}

/** The files that a page loads, those that its scripts import included. */
async function filesOf(html: string): Promise<string[]> {
  const direct = attributes(html).filter((target) => /^\/docs\/assets\/.*\.(?:css|js|svg)$/.test(target));
  const imported = await Promise.all(
    direct.map(async (target) => {
      const { text } = await page(target);
      return target.endsWith('.js')
        ? [...text.matchAll(/^import .* from '(.+)';$/gm)].map(([, name = '']) => name)
        : [];
    }),
  );
  return [...new Set([...direct, ...imported.flat()])];
}

describe('the pages', () => {
  it('the pages are the reference with every operation, the guides for clients and operators, the runbooks, the problems and the changelog', async () => {
    const document = (await (await get('/v1/openapi.json')).json()) as { paths: Record<string, object> };
    const operations = Object.values(document.paths).flatMap((item) =>
      Object.keys(item).filter((name) => name !== 'parameters'),
    );
    const all = await allPages();
    expect(all).toEqual(expect.arrayContaining([...pages, '/problems']));
    expect(all.filter((path) => path.startsWith('/docs/reference/'))).toHaveLength(operations.length);
  });

  it('the pages permit only files and requests of the gateway', async () => {
    for (const path of await allPages()) {
      const response = await get(path, { Accept: 'text/html' });
      expect([path, response.status, response.headers.get('content-type')]).toEqual([
        path,
        200,
        'text/html; charset=utf-8',
      ]);
      const policy = response.headers.get('content-security-policy') ?? '';
      expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; /);
      expect(policy).not.toMatch(/unsafe|http|\*|data:/);
      expect(await response.text()).not.toMatch(
        /<style|<script(?!(?: type="module")? src="\/docs\/assets\/)| style="| on\w+="/,
      );
    }
  });

  it('the pages have only valid links', async () => {
    for (const path of await allPages()) {
      const { text } = await page(path);
      const targets = new Set(attributes(text).filter((target) => !/^https:\/\//.test(target)));
      expect([path, targets.size > 5]).toEqual([path, true]);
      for (const target of targets) {
        const { pathname, hash } = new URL(target, new URL(path, gateway.url));
        const found = await page(pathname);
        expect([path, target, found.status]).toEqual([path, target, 200]);
        if (hash !== '' && !found.text.includes(` id="${hash.slice(1)}"`)) throw new Error(`${path}: no ${target}`);
      }
    }
  });

  it('the pages have no empty section and each id once', async () => {
    for (const path of await allPages()) {
      const { text } = await page(path);
      expect([
        path,
        /<h([123])[^>]*>[^\n]*<\/h\1>\s*(?:<h[12]|<\/section>|<\/main>|<\/div>)|<ul(?! id="found")[^>]*><\/ul>|<p><\/p>/.exec(
          text,
        )?.[0],
      ]).toEqual([path, undefined]);
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect([path, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([path, []]);
    }
  });

  it('the pages need at most 40 KiB for the first view, compressed', async () => {
    const sizeOf = async (path: string): Promise<number> => {
      const response = await get(path, { 'Accept-Encoding': 'gzip', Accept: 'text/html' });
      return Number(response.headers.get('content-length'));
    };
    let most = 0;
    for (const path of await allPages()) {
      const files = await filesOf((await page(path)).text);
      const sizes = await Promise.all([path, ...files].map(sizeOf));
      most = Math.max(
        most,
        sizes.reduce((sum, size) => sum + size, 0),
      );
    }
    expect(most).toBeGreaterThan(5_000);
    expect(most).toBeLessThan(40 * 1_024);
  });

  it('the pages have only files of the gateway, each under the digest of its content', async () => {
    const [operation = ''] = (await allPages()).filter((path) => path.startsWith('/docs/reference/'));
    const assets = await filesOf((await page(operation)).text);
    expect(assets).toHaveLength(13);
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

  it('the pages have tables whose rows all have the cells of the head, and no row that became text', async () => {
    for (const path of await allPages()) {
      const { text } = await page(path);
      const prose = text.replaceAll(/<(pre|code)\b.*?<\/\1>/gs, '');
      expect([path, /[^\n]*(?:\| [^\n]*\||\|\s*-{3})[^\n]*/.exec(prose)?.[0]]).toEqual([path, undefined]);
      for (const [, head = '', body = ''] of text.matchAll(/<thead>(.*?)<\/thead>\s*<tbody>(.*?)<\/tbody>/gs)) {
        const cells = (row: string): number => row.match(/<t[hd]\b/g)?.length ?? 0;
        const rows = body.split('</tr>').slice(0, -1);
        expect([path, rows.filter((row) => cells(row) !== cells(head))]).toEqual([path, []]);
      }
    }
  });

  it('the pages list every problem, and every event with its sender and its consumers', async () => {
    const errors = await (await get('/docs/errors')).text();
    for (const code of Object.keys(problems)) expect(errors).toContain(`href="/problems/${code}"`);
    const events = await (await get('/docs/events')).text();
    for (const type of ['account.registered.v1', 'order.created.v1', 'order.cancelled.v1', 'stock.released.v1'])
      expect(events).toContain(`id="${type.replaceAll('.', '-')}"`);
    expect(events).toMatch(
      /An order was cancelled.*?Sent by <strong>orders<\/strong>.*?<strong>catalogue<\/strong> releases the stock/s,
    );
    expect(events).toContain('<code>eraseAt</code></td><td data-label="Type">time</td>');
    expect(errors + events).not.toContain('<!-- ');
  });

  it('the page of each problem states whether to send the request again', async () => {
    const errors = await (await get('/docs/errors')).text();
    const answers = [...errors.matchAll(/<tr>\s*<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => cell);
    const unsaid = Object.entries(problems).filter(
      ([code, { status }]) =>
        !answers.some((cell) => cell.includes(`${status}`) && (!cell.includes('<code>') || cell.includes(`>${code}<`))),
    );
    expect(unsaid).toEqual([]);
  });
});

describe('the downloads', () => {
  it('the downloads are listed in llms.txt, every one of them', async () => {
    const response = await get('/llms.txt');
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const targets = [...(await response.text()).matchAll(/\]\((\/[^)]+)\)/g)].map(([, target = '']) => target);
    expect(targets.length).toBeGreaterThan(50);
    for (const target of targets) expect([target, (await page(target)).status]).toEqual([target, 200]);
    for (const target of targets.filter((one) => one.endsWith('.md')))
      expect([target, (await page(target)).type]).toEqual([target, 'text/markdown; charset=utf-8']);
    for (const target of targets.filter((one) => one.startsWith('/docs/asyncapi/')))
      expect(JSON.parse((await page(target)).text)).toMatchObject({ asyncapi: '3.0.0' });
  });
});

describe('what is nowhere', () => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it.each([
    ['/', 200],
    ['/nonsense', 404],
    ['/docs/nonsense', 404],
    ['/problems/nonsense', 404],
    ['/Docs/<b>', 404],
  ])(
    'the unknown address %s is a page with valid links for a browser, and a problem for a program',
    async (path, status) => {
      const response = await get(path, { Accept: browser });
      expect([response.status, response.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8']);
      const text = await response.text();
      expect(text).not.toContain('<b>');
      for (const target of attributes(text).filter((one) => one.startsWith('/')))
        expect([target, (await page(target)).status]).toEqual([target, 200]);
      for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5']) {
        const problem = await get(path, { Accept: accept });
        expect([problem.status, problem.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
      }
    },
  );

  it.each([
    ['/docs/', '/docs'],
    ['/docs/errors/?from=mail', '/docs/errors?from=mail'],
    ['/docs/reference/', '/docs/reference'],
    ['/docs/reference/create-order/', '/docs/reference/create-order'],
    ['/problems/', '/problems'],
    ['/problems/not-found/', '/problems/not-found'],
    ['/board/', '/board'],
    ['/mail/', '/mail'],
    ['/board/runbooks', '/docs/runbooks'],
    ['/board/runbooks/', '/docs/runbooks'],
    ['/board/runbooks/dead-letters', '/docs/runbooks/dead-letters'],
  ])('the previous address %s redirects everybody to the page at %s', async (path, target) => {
    for (const [accept, method] of [
      [browser, 'GET'],
      ['*/*', 'GET'],
      ['*/*', 'HEAD'],
    ] as const) {
      const response = await get(path, { Accept: accept }, method);
      expect([response.status, response.headers.get('location')]).toEqual([308, target]);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it.each(['//evil.example/', '/docs//evil.example//', '/v1/products/', '/nonsense/', '/docs/%0d%0aa/', '/docs/<b>/'])(
    'the address %s redirects nobody',
    async (path) => {
      const response = await fetch(`${gateway.url}${path}`, { redirect: 'manual', headers: { Accept: browser } });
      expect([response.ok, response.headers.get('location')]).toEqual([false, null]);
    },
  );

  it('an unknown address is a problem below /v1 and for other methods', async () => {
    expect((await get('/v1/nonsense', { Accept: browser })).headers.get('content-type')).toBe(
      'application/problem+json',
    );
    expect((await get('/nonsense', { Accept: browser }, 'POST')).headers.get('content-type')).toBe(
      'application/problem+json',
    );
  });
});
