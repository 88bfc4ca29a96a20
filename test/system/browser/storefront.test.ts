// A visitor of the storefront, from the start page to the cart.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { findings } from './accessibility.ts';
import { type StorefrontShop, settled, startStorefront } from './storefront-visitor.ts';

let storefront: StorefrontShop;
let shirt: string;

beforeAll(async () => {
  storefront = await startStorefront();
  const { page } = await storefront.visit('/search?q=shirt');
  shirt = (await page.getByRole('link', { name: 'Organic Cotton T-Shirt' }).getAttribute('href')) ?? '';
});
afterAll(() => storefront?.stop());

const headings = (page: Page): Promise<string[]> => page.locator('.products h3').allTextContents();

describe('a visitor', () => {
  it('walks from the start page over a filtered category to a version of a product, and into the cart', async () => {
    const { page, complaints } = await storefront.visit('/');
    await page.getByRole('navigation', { name: 'Categories' }).getByRole('link', { name: 'Textiles' }).click();
    await settled(page);
    expect(await page.title()).toBe('Textiles · Shop');
    const all = await headings(page);
    expect(all).toContain('Organic Cotton T-Shirt');

    await page.getByLabel('Lindwick').click();
    await page.waitForURL('**/c/textiles?brand=Lindwick');
    await settled(page);
    const filtered = await headings(page);
    expect(filtered.length).toBeGreaterThan(0);
    expect(filtered.length).toBeLessThan(all.length);
    // The focus stays on the filter.
    expect(await page.evaluate('document.activeElement.id')).toBe('brand-Lindwick');

    await page.getByRole('link', { name: 'Organic Cotton T-Shirt' }).click();
    await settled(page);
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
    await page.getByRole('link', { name: 'M', exact: true }).click();
    await page.locator('legend', { hasText: 'Size: M' }).waitFor();
    await settled(page);
    await page.getByLabel('Quantity').fill('2');
    await page.getByRole('button', { name: 'Add to cart' }).click();
    await page.getByText('2 × Organic Cotton T-Shirt are in your cart.').waitFor();
    await page.getByRole('link', { name: 'Cart, 2 items' }).click();
    await settled(page);
    expect(await page.locator('.line .what').textContent()).toContain('black, M');
    expect(await page.locator('.totals .total dd').textContent()).toMatch(/^€\d+\.\d\d$/);

    // The filters are there again, and not the versions between.
    await page.goBack();
    await settled(page);
    await page.goBack();
    await page.waitForURL('**/c/textiles?brand=Lindwick');
    expect(await headings(page)).toEqual(filtered);
    expect(await page.getByLabel('Lindwick').isChecked()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('sees in the cart why a line is refused, and takes what there is', async () => {
    const { page, complaints } = await storefront.visit(shirt);
    await page.getByLabel('Quantity').fill('999');
    await page.getByRole('button', { name: 'Add to cart' }).click();
    await page.getByRole('link', { name: 'To the cart' }).click();
    const take = page.getByRole('button', { name: /^Take \d+$/ });
    await take.waitFor();
    expect(await page.getByRole('link', { name: 'To checkout' }).getAttribute('href')).toBeNull();
    await take.click();
    await page.locator('a[href="/checkout"]').waitFor();
    await page.getByRole('button', { name: 'Remove Organic Cotton T-Shirt' }).click();
    await page.getByRole('heading', { name: 'Your cart is empty' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('finds the scroll position and further products of a list after Back', async () => {
    const { page, complaints } = await storefront.visit('/search');
    await page.getByRole('button', { name: 'Show more' }).click();
    const products = page.locator('.products li');
    await products.nth(30).waitFor();
    // The focus is on the first of the further products.
    expect(
      await page.evaluate('document.activeElement.closest("li") === document.querySelectorAll(".products li")[24]'),
    ).toBe(true);
    const count = await products.count();
    await products.nth(30).scrollIntoViewIfNeeded();
    const place = await page.evaluate('scrollY');
    await products.nth(30).getByRole('link').click();
    await page.locator('.product').waitFor();
    expect(await page.evaluate('scrollY')).toBe(0);
    await page.goBack();
    await products.nth(30).waitFor();
    expect([await products.count(), await page.evaluate('scrollY')]).toEqual([count, place]);
    expect(await page.evaluate('document.activeElement.closest("li") !== null')).toBe(true);
    await page.getByRole('button', { name: 'Show more' }).click();
    await products.nth(count).waitFor();
    await page.goForward();
    await page.locator('.product').waitFor();
    expect(complaints).toEqual([]);
  });

  it('finds the products of a page after Back that was left before it had them', async () => {
    const { page, complaints } = await storefront.visit('/cart');
    let send = (): void => {};
    const isLeft = new Promise<void>((resolve) => {
      send = resolve;
    });
    await page.route(/\/v1\/products/, async (route) => {
      await isLeft;
      await route.continue();
    });
    await page.getByRole('banner').getByRole('link', { name: 'Shop' }).click();
    await page.getByRole('heading', { name: 'Good things for every day' }).waitFor();
    await page.getByRole('link', { name: 'Cart, 0 items' }).click();
    await page.getByRole('heading', { name: 'Your cart is empty' }).waitFor();
    send();
    await page.goBack();
    await page.locator('.products li').first().waitFor();
    await settled(page);
    expect(await page.getByText('No connection').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('uses the shop by keyboard alone', async () => {
    const { page, complaints } = await storefront.visit('/');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content');
    await page.evaluate('window.heading = document.querySelector("h1")');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
    // A page that was shown again would have another one.
    expect(await page.evaluate('[location.hash, document.contains(window.heading)]')).toEqual(['', true]);
    await page.getByRole('searchbox').focus();
    await page.keyboard.type('mug');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Results for “mug”' }).waitFor();
    await settled(page);
    await page.getByRole('link', { name: 'Enamel Mug' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.product').waitFor();
    await page.getByRole('button', { name: 'Add to cart' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('1 × Enamel Mug is in your cart.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('chooses the language and the theme, and finds both after a reload', async () => {
    const { page, complaints } = await storefront.visit('/cart');
    await page.getByRole('button', { name: 'Deutsch' }).click();
    await page.getByRole('heading', { name: 'Ihr Warenkorb ist leer' }).waitFor();
    await page.getByRole('button', { name: 'Dunkle Farben' }).click();
    await page.reload();
    await page.getByRole('heading', { name: 'Ihr Warenkorb ist leer' }).waitFor();
    expect(await page.evaluate('[document.documentElement.lang, document.documentElement.dataset.theme]')).toEqual([
      'de',
      'dark',
    ]);
    expect(complaints).toEqual([]);
  });

  it('reads that the connection is lost, and sees the page when the browser is online again', async () => {
    const { page } = await storefront.visit('/cart');
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'All products' }).click();
    await page.getByRole('heading', { name: 'No connection' }).waitFor();
    await page.context().setOffline(false);
    await page.getByRole('heading', { name: 'All products' }).waitFor();
  });

  it('gets a page at each address that the names of others look like', async () => {
    const { page, complaints } = await storefront.visit('/search?category=constructor');
    await page.getByRole('heading', { name: 'Constructor', exact: true }).waitFor();
    await page.goto('/c/kitchen?category=garden');
    await settled(page);
    expect(await headings(page)).toContain('Enamel Mug');
    await page.goto('/cart/');
    await page.getByRole('heading', { name: 'Your cart is empty' }).waitFor();
    expect(complaints).toEqual([]);
    // The gateway refuses such a path, but not each host of a storefront does.
    await page.evaluate('history.pushState(null, "", "/c/%E0%A4%A")');
    await page.evaluate('dispatchEvent(new PopStateEvent("popstate"))');
    await page.getByRole('heading', { name: 'Nothing here' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('uses the shop in a browser that keeps no data for it', async () => {
    const { page, complaints } = await storefront.visit('/');
    await page.addInitScript(`{
      const refuse = () => { throw new DOMException('The data of this site is blocked.', 'SecurityError'); };
      for (const name of ['localStorage', 'sessionStorage']) Object.defineProperty(window, name, { get: refuse });
      IDBFactory.prototype.open = refuse;
    }`);
    await page.goto(shirt);
    await page.getByRole('button', { name: 'Add to cart' }).click();
    await page.getByRole('link', { name: 'To the cart' }).click();
    await page.locator('a[href="/checkout"]').waitFor();
    expect(complaints).toEqual([]);
  });

  it('comes to the log-in from a page of customers, and the form stays', async () => {
    const { page, complaints } = await storefront.visit('/log-in');
    await page.getByRole('banner').getByRole('link', { name: 'Shop' }).click();
    await settled(page);
    await page.getByRole('contentinfo').getByRole('link', { name: 'Your orders' }).click();
    await page.getByRole('heading', { name: 'Log in' }).waitFor();
    // This timer ends after the one with which the page shows that it is loading.
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 150))');
    expect(await page.getByLabel('E-mail address').count()).toBe(1);
    expect(complaints).toEqual([]);
  });

  it('sees a list without filters when it is too long to count', async () => {
    const { page } = await storefront.visit('/cart');
    const problem = {
      type: 'about:blank',
      title: 'Unprocessable',
      status: 422,
      code: 'query-too-costly',
      detail: 'Too long.',
    };
    await page.route(/\/v1\/products/, (route, request) => {
      const isCounted = `${request.url()} ${request.postData()}`.includes('facets');
      if (!isCounted) return route.continue();
      return route.fulfill({ status: 422, contentType: 'application/problem+json', body: JSON.stringify(problem) });
    });
    await page.goto('/search');
    await settled(page);
    expect(await page.locator('.products li').count()).toBe(24);
    expect(await page.getByRole('group', { name: 'Brand' }).count()).toBe(0);
  });

  it('loads the page again when a new version no longer has its modules', async () => {
    const { page } = await storefront.visit('/');
    await page.route(/pages\/customers\.js$/, (route) => route.fulfill({ status: 404 }));
    await page.getByRole('banner').getByRole('link', { name: 'Log in' }).click();
    await page.getByText('Load it again').waitFor();
    await page.unroute(/pages\/customers\.js$/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByLabel('E-mail address').waitFor();
  });

  it('sees the names of products when pictures are not loaded', async () => {
    const { page } = await storefront.visit('/cart');
    await page.route(/\.svg$/, (route) => route.abort());
    await page.goto('/c/kitchen');
    await settled(page);
    // A letter takes the place of a picture that fails.
    await page.locator('.card .tile').first().waitFor();
    expect(await headings(page)).toContain('Enamel Mug');
  });
});

describe('each page of the storefront', () => {
  const screens = [
    ['light', 'en', { width: 1440, height: 900 }],
    ['dark', 'de', { width: 1440, height: 900 }],
    ['dark', 'en', { width: 360, height: 740 }],
    ['light', 'de', { width: 360, height: 740 }],
  ] as const;

  it.each(screens)('is accessible, fits, and prints nothing (%s, %s, %j)', async (colorScheme, locale, viewport) => {
    for (const path of ['/', '/c/textiles?stock=1', '/search?q=mug', '/search?q=nothingfound', shirt, '/cart']) {
      const { page, complaints } = await storefront.visit(path, { colorScheme, locale, viewport });
      expect([path, await findings(page)]).toEqual([path, []]);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, viewport.width]);
      expect([path, complaints]).toEqual([path, []]);
      await page.context().close();
    }
  });
});
