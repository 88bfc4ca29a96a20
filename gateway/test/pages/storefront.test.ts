// The example storefront: who gets it, at which addresses, and that it can be switched off.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const folder = fileURLToPath(new URL('../../config', import.meta.url));
const browser = { Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let on: TestGateway;
let off: TestGateway;
beforeAll(async () => {
  [on, off] = await Promise.all([
    startGateway({ GATEWAY_CONFIG_DIR: folder, STOREFRONT: 'on' }),
    startGateway({ GATEWAY_CONFIG_DIR: folder }),
  ]);
});
afterAll(async () => {
  await Promise.all([on?.stop(), off?.stop()]);
});

const open = (gateway: TestGateway, path: string, headers: Record<string, string> = browser) =>
  fetch(`${gateway.url}${path}`, { headers });

describe('the storefront', () => {
  it.each([
    '/',
    '/c/kitchen',
    '/c/caf%C3%A9',
    '/search?q=lamp',
    '/p/01931f70-6a10-7b52-9c3e-2f4d8e6a0b01',
    '/cart',
    '/orders/1',
  ])('a browser gets the page of the storefront at %s', async (path) => {
    const response = await open(on, path);
    expect(response.status).toBe(200);
    const text = await response.text();
    expect(text).toMatch(/<script type="module" src="\/docs\/assets\/storefront\/[0-9a-f]{12}\/src\/main\.js"/);
    expect(text).toContain('<meta name="demo" content="docs board">');
    // Programs get other content at the address.
    expect(response.headers.get('vary')).toContain('Accept');
    expect(response.headers.get('cache-control')).toBe('private, no-cache');
  });

  it('the page allows only scripts and requests of the shop, pictures over HTTPS, and no markup from text', async () => {
    const policy = (await open(on, '/')).headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' https: data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]);
  });

  it('every file of the page, and every script that it loads later, is sent for a year', async () => {
    const read = async (path: string): Promise<string> => {
      const response = await open(on, path, {});
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      return response.text();
    };
    const page = await (await open(on, '/')).text();
    const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, address]) => address ?? '');
    expect(files).toHaveLength(3);
    const [main = ''] = files.filter((file) => file.endsWith('.js'));
    for (const file of files) await read(file);
    const later = [...(await read(main)).matchAll(/import\('([^']+)'\)/g)];
    for (const [, name = ''] of later) await read(new URL(name, `http://shop${main}`).pathname);
  });

  it.each(['/', '/cart', '/p/1'])(
    'a program gets the same problem document at %s as without the storefront',
    async (path) => {
      const [response, without] = await Promise.all([open(on, path, {}), open(off, path, {})]);
      expect([response.status, without.status]).toEqual([404, 404]);
      const { instance: _, ...problem } = (await response.json()) as Record<string, unknown>;
      expect(await without.json()).toMatchObject(problem);
    },
  );

  it.each(['/nothing', '/p/a/b', '/cart/more', '/docs/nothing'])('a browser gets 404 and links at %s', async (path) => {
    const response = await open(on, path);
    expect(response.status).toBe(404);
    const text = await response.text();
    expect(text).toContain('There is nothing here');
    expect(text).toContain('<a href="/"><strong>Storefront</strong>');
  });

  it('without STOREFRONT=on, a browser gets the page of links at / and 404 at other addresses of the storefront', async () => {
    const [root, cart] = await Promise.all([open(off, '/'), open(off, '/cart')]);
    expect([root.status, cart.status]).toEqual([200, 404]);
    expect(await root.text()).toContain('The shop is running');
  });
});
