// The tests of all pages of the documentation on one device, in the light and the dark color scheme.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { guideNames, operatorGuideNames } from '../../../web/src/docs/chapters.ts';
import { findings } from './accessibility.ts';
import { type Documentation, lightness, openDocumentation, type Visit } from './documentation.ts';
import { screens } from './screens.ts';

const texts = [
  '/',
  '/docs/nonsense',
  '/docs',
  '/docs/reference',
  '/docs/changelog',
  '/problems',
  '/problems/price-changed',
];
const guides = [...guideNames, ...operatorGuideNames, 'runbooks', 'runbooks/dead-letters'];
const paths = [...texts, ...guides.map((name) => `/docs/${name}`)];

/** The pages of operations that the reference lists. */
async function operationPages(url: string): Promise<string[]> {
  const html = await (await fetch(new URL('/docs/reference', url))).text();
  return [...new Set([...html.matchAll(/href="(\/docs\/reference\/[a-z-]+)"/g)].map(([, path = '']) => path))];
}

async function isGood(path: string, { page, complaints }: Visit, colorScheme: 'light' | 'dark'): Promise<void> {
  // The browser itself reports the status of the page that explains it.
  const own = complaints.filter((complaint) => !complaint.includes('status of 404'));
  expect([path, own]).toEqual([path, []]);
  const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  expect([path, overflow <= 0]).toEqual([path, true]);
  const { ground = colorScheme === 'dark' ? 0 : 1, text } = await lightness(page);
  expect(colorScheme === 'dark' ? 1 - ground : ground).toBeGreaterThan(0.8);
  expect(Math.abs(ground - text)).toBeGreaterThan(0.5);
  expect([path, await findings(page)]).toEqual([path, []]);
}

/** Defines the tests of all pages on this device. Each device has a file of its own, so that they run at the same time. */
export function describePages(device: (typeof screens)[number][0]): void {
  let documentation: Documentation;

  beforeAll(async () => {
    documentation = await openDocumentation();
  });
  afterAll(() => documentation?.stop());

  describe.each(screens.filter(([name]) => name === device))(
    'on a %s in the %s color scheme',
    (_device, colorScheme, viewport) => {
      it.each(paths)('%s is complete, accessible, sends no request elsewhere, fits and can be read', async (path) => {
        const visited = await documentation.visit(path, { colorScheme, viewport });
        await isGood(path, visited, colorScheme);
        await visited.page.context().close();
      });

      it('the page of every operation is, too', async () => {
        const all = await operationPages(documentation.shop.url);
        expect(all.length).toBeGreaterThan(40);
        const visited = await documentation.visit('/docs', { colorScheme, viewport });
        for (const path of all) {
          await visited.page.goto(path);
          await isGood(path, visited, colorScheme);
        }
        await visited.page.context().close();
      });
    },
  );
}
