// The HTML of every e-mail in a real browser: on a phone and a desktop, in light and dark mode, without requests to
// other hosts.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { composeEmail } from '../../../services/notifications/src/email/email.ts';
import { kinds } from '../../../services/notifications/src/email/notification.ts';
import { readTemplates } from '../../../services/notifications/src/email/templates.ts';
import { occasions, senderWith } from '../../../services/notifications/test/occasions.ts';
import { startChromium } from './chromium.ts';

const folder = fileURLToPath(new URL('../../../services/notifications/templates', import.meta.url));
const sender = senderWith(readTemplates(folder, 'en'), true);

let browser: Browser;
beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser?.close());

/** The minimum contrast of a text with its background in WCAG 2.2, section 1.4.3. */
const leastContrast = 4.5;

/** Runs in the page. Returns the smallest contrast of a text with the nearest opaque background. */
const smallestContrast = `
  const parts = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = (element) => {
    if (element === null) return 'rgb(255, 255, 255)';
    const colour = getComputedStyle(element).backgroundColor;
    return parts(colour)[3] === 0 ? background(element.parentElement) : colour;
  };
  const contrasts = [...document.querySelectorAll('h1, p, td, a, small, footer')].map((element) => {
    const [one, other] = [luminance(getComputedStyle(element).color), luminance(background(element))];
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  });
  return Math.min(...contrasts);`;

describe.each(['light', 'dark'] as const)('on a %s screen', (colorScheme) => {
  describe.each(['en', 'de', 'fr'])('in %s', (locale) => {
    it.each(kinds)('a %s is readable on a phone and on a desktop', async (kind) => {
      const occasion = occasions.find((each) => each.kind === kind);
      if (occasion === undefined) throw new Error(`there is no ${kind}`);
      const name = 'Wolfeschlegelsteinhausenbergerdorff-Featherstonehaugh';
      const { html } = composeEmail(sender, { email: 'a@example.org', name, locale }, occasion);
      const context = await browser.newContext({ colorScheme });
      try {
        const page = await context.newPage();
        const requests: string[] = [];
        page.on('request', (request) => requests.push(request.url()));
        for (const width of [320, 390, 800]) {
          await page.setViewportSize({ width, height: 800 });
          await page.setContent(html);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
          expect(await page.evaluate(`(() => {${smallestContrast}})()`)).toBeGreaterThanOrEqual(leastContrast);
        }
        expect(requests).toEqual([]);
      } finally {
        await context.close();
      }
    });
  });
});
