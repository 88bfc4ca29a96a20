// Every link leads somewhere: those of all pages that a running shop serves, and those between the repository's texts.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { eventually } from '@shop/shared/testing';
import { type RunningShop, startShop } from '../../test/running-shop.ts';
import { renderGuide } from '../../web/src/docs/guide.ts';

const browser = 'text/html,application/xhtml+xml,*/*;q=0.8';
const root = fileURLToPath(new URL('../..', import.meta.url));

describe('a running shop', () => {
  let shop: RunningShop;
  let cookie = '';
  beforeAll(async () => {
    shop = await startShop();
    const { mailPageKey } = JSON.parse(await readFile(join(shop.dataDir, 'secrets.json'), 'utf8'));
    const account = { email: 'kim@example.com', name: 'Kim', password: 'a long and quiet river' };
    await createShop({ baseUrl: shop.url }).call.POST('/v1/accounts', { body: account });
    // The list has a page for the e-mail that verifies the address.
    await eventually(async () => {
      const list = await fetch(new URL(`/mail?key=${mailPageKey}`, shop.url), { headers: { Accept: 'text/html' } });
      cookie = list.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; ');
      expect(await list.text()).toContain('kim@example.com');
    }, 30_000);
  });
  afterAll(() => shop?.stop());

  const read = (path: string): Promise<{ status: number; isHtml: boolean; text: string }> =>
    eventually(async () => {
      const response = await fetch(new URL(path, shop.url), { headers: { Accept: browser, Cookie: cookie } });
      // This test sends more requests than one client may, and waits.
      expect(response.status).not.toBe(429);
      const isHtml = response.headers.get('content-type')?.startsWith('text/html') === true;
      return { status: response.status, isHtml, text: await response.text() };
    }, 30_000);

  it('a running shop has a page for every link of every page: documentation, problems, board, runbooks, e-mails and help', async () => {
    const pages = new Map<string, Awaited<ReturnType<typeof read>>>();
    const waiting = ['/', '/nonsense', '/docs', '/problems', '/board', '/mail', '/llms.txt'];
    const anchors: [from: string, path: string, anchor: string][] = [];
    const dead: string[] = [];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (pages.has(path)) continue;
      const page = await read(path);
      pages.set(path, page);
      // Some examples show what the API refuses.
      const isAnswered = page.status === 200 || (path.startsWith('/v1/') && [400, 422].includes(page.status));
      if (!isAnswered && path !== '/nonsense') dead.push(`${path}: ${page.status}`);
      for (const link of linksIn(page.text, page.isHtml, path)) {
        const { protocol, origin, pathname, search, hash } = new URL(link, new URL(path, shop.url));
        if (origin !== new URL(shop.url).origin) {
          if (protocol !== 'https:') dead.push(`${path}: ${link}`);
          continue;
        }
        // Requests to the API that a page offers to open are links, too.
        waiting.push(`${pathname}${search}`);
        // The fragment of a link in an e-mail is its token.
        if (hash !== '' && !hash.includes('=')) anchors.push([path, `${pathname}${search}`, hash.slice(1)]);
      }
    }
    for (const [from, path, anchor] of anchors)
      if (pages.get(path)?.isHtml && !pages.get(path)?.text.includes(` id="${anchor}"`))
        dead.push(`${from}: ${path}#${anchor}`);
    expect(dead).toEqual([]);
    const kinds = [
      /^\/docs\/growing$/,
      /^\/docs\/runbooks\/./,
      /^\/docs\/reference\/./,
      /^\/problems\/./,
      /^\/mail\/.+verif/,
      /^\/board$/,
    ];
    for (const kind of kinds) expect([...pages.keys()]).toEqual(expect.arrayContaining([expect.stringMatching(kind)]));
    expect(pages.size).toBeGreaterThan(200);
  });
});

/** The targets of the links of a page: of HTML, or of Markdown. */
function linksIn(text: string, isHtml: boolean, path: string): string[] {
  const isMarkdown = path.endsWith('.md') || path === '/llms.txt';
  if (!isHtml && !isMarkdown) return [];
  const pattern = isHtml ? / (?:href|src)="([^"]*)"/g : /\]\(([^)\s]+)\)/g;
  const plain = isHtml ? text : withoutCode(text);
  return [...plain.matchAll(pattern)].map(([, target = '']) => target.replaceAll('&amp;', '&'));
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^ *```.*?^ *```$|`[^`\n]*`/gms, '');
}

describe('the texts of the repository', () => {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).trim().split('\n');

  it('the documents link only to files and headings that exist', () => {
    const dead = files.flatMap((file) => {
      const text = withoutCode(readFileSync(join(root, file), 'utf8'));
      return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
        if (/^[a-z]+:|^\//.test(link)) return [];
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? join(root, file) : join(root, dirname(file), path);
        if (!existsSync(target)) return [`${file}: ${link}`];
        if (anchor === undefined) return [];
        const { headings } = renderGuide(readFileSync(target, 'utf8'));
        return headings.some(({ id }) => id === anchor) ? [] : [`${file}: ${link}`];
      });
    });
    expect(files.length).toBeGreaterThan(50);
    expect(dead).toEqual([]);
  });

  it('the texts of the repository name only documents that exist', () => {
    const dead = files
      .filter((file) => !file.startsWith('CHANGELOG'))
      .flatMap((file) =>
        [...readFileSync(join(root, file), 'utf8').matchAll(/`((?:docs|deploy|test|bench|client)\/[\w./-]+\.md)`/g)]
          .filter(([, path = '']) => !existsSync(join(root, path)))
          .map(([, path]) => `${file}: ${path}`),
      );
    expect(dead).toEqual([]);
  });
});
