// Log-in, e-mails and account of the example storefront, in a real browser against a real shop.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { eventually } from '@shop/shared/testing';
import type { Page } from 'playwright-core';
import { findings } from './accessibility.ts';
import { screens } from './screens.ts';
import { addToCart, logIn, overflow, password, type StorefrontShop, startStorefront } from './storefront-visitor.ts';

const newPassword = 'an old oak and a river';

let shop: StorefrontShop;

beforeAll(async () => {
  shop = await startStorefront();
});

afterEach(async () => {
  await Promise.all(shop.browser.contexts().map((context) => context.close()));
  expect(shop.complaints.splice(0)).toEqual([]);
});

afterAll(() => shop?.stop());

const main = (page: Page) => page.getByRole('main');
const section = (page: Page, title: string) =>
  page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });

/** The message of the browser about a request that the shop refuses. */
function expectRefusal(status: number): void {
  expect(shop.complaints.splice(0)).toEqual([expect.stringContaining(`status of ${status}`)]);
}

describe('the storefront', () => {
  it('the storefront leads a visitor over the log-in back to the page of before, and to no other host', async () => {
    const { email } = await shop.customer();
    const page = await shop.open();
    await page.goto('/orders');
    await page.waitForURL('**/log-in?next=%2Forders');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill('not the password');
    await main(page).getByRole('button', { name: 'Log in' }).click();
    await page.getByText('This e-mail address and this password do not belong together.').waitFor();
    expectRefusal(401);
    await page.getByLabel('Password').fill(password);
    await main(page).getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'No orders yet' }).waitFor();

    await page.goto('/account');
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/');
    for (const next of ['//evil.example', '/\t/evil.example', '/\\evil.example', 'https://evil.example']) {
      await page.goto(`/log-in?${new URLSearchParams({ next })}`);
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await main(page).getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL((url) => url.href === `${shop.url}/`);
      await page.goto('/account');
      await page.getByRole('button', { name: 'Log out', exact: true }).click();
      await page.waitForURL((url) => url.pathname === '/');
    }
  });

  it('the storefront says that an e-mail address has an account already, beside its field', async () => {
    const { email } = await shop.customer();
    const page = await shop.open();
    await page.goto('/register');
    await page.getByLabel('Name').fill('Kim');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await main(page).getByRole('button', { name: 'Create an account' }).click();
    await page.locator('.field', { hasText: 'E-mail address' }).locator('.fault').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('email');
    expectRefusal(409);
  });

  it('the storefront sets a new password with the link of the e-mail, once', async () => {
    const { email } = await shop.customer();
    const page = await shop.open();
    await page.goto('/log-in');
    await page.getByRole('link', { name: 'Password forgotten?' }).click();
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Send the e-mail' }).click();
    await page.getByText(`If ${email} has an account`).waitFor();
    const link = await shop.linkInEmail('password-reset', email);
    expect(link).toMatch(/^\/reset#/);
    const opened = await page.context().newPage();
    await opened.goto(link);
    await opened.getByLabel('New password').fill('short');
    await opened.getByRole('button', { name: 'Save the password' }).click();
    await opened.getByText('Must not have fewer than 8 characters').waitFor();
    expectRefusal(400);
    await opened.getByLabel('New password').fill(newPassword);
    await opened.getByRole('button', { name: 'Save the password' }).click();
    await opened.getByText('The new password is saved.').waitFor();
    await logIn(opened, email, '/account', newPassword);

    const late = await page.context().newPage();
    await late.goto(link);
    await late.getByLabel('New password').fill(password);
    await late.getByRole('button', { name: 'Save the password' }).click();
    await late.getByText('This link is used up or too old.').waitFor();
    expectRefusal(400);
  });

  it('the storefront confirms an address with the link of the e-mail, and keeps the former one when a change is undone', async () => {
    const { email, client } = await shop.customer();
    const page = await shop.open();
    await logIn(page, email);
    await page.getByText('Not confirmed').waitFor();
    await page.goto(await shop.linkInEmail('email-verification', email));
    await page.getByRole('button', { name: 'Confirm the address' }).click();
    await page.getByText('Your address is confirmed.').waitFor();
    await page.getByRole('link', { name: 'To your account' }).click();
    await page.getByText('Confirmed', { exact: true }).waitFor();

    const next = `new-${email}`;
    const part = section(page, 'E-mail address');
    await part.getByLabel('New e-mail address').fill(next);
    await part.getByLabel('Present password').fill('not the password');
    await part.getByRole('button', { name: 'Change the address' }).click();
    await part.locator('.fault').waitFor();
    expectRefusal(403);
    await part.getByLabel('Present password').fill(password);
    await part.getByRole('button', { name: 'Change the address' }).click();
    await part.getByText('An e-mail is on its way to the new address.').waitFor();
    expect((await client.me()).pending_email).toBe(next);
    await page.goto(await shop.linkInEmail('email-change-undo', email));
    await page.getByRole('button', { name: 'Keep the address' }).click();
    await page.getByText('Your account keeps the address.').waitFor();
    const later = createShop({ baseUrl: shop.url });
    await later.logIn({ email, password });
    expect(await later.me()).not.toHaveProperty('pending_email');
  });

  it('the account page changes name, address and password, ends sessions, and saves the data', async () => {
    const { email, client } = await shop.customer();
    const page = await shop.open({ acceptDownloads: true });
    await logIn(page, email);
    await section(page, 'You').getByLabel('Name').fill('Kim Lee');
    await section(page, 'You').getByRole('button', { name: 'Save' }).click();
    await section(page, 'You').getByText('Saved.').waitFor();
    const address = section(page, 'Delivery address');
    await address.getByLabel('Street and house number').fill('Lindenweg 4');
    await address.getByLabel('Postal code').fill('10115');
    await address.getByLabel('City').fill('Berlin');
    await address.getByLabel('Country').selectOption('DE');
    await address.getByLabel('State or region').fill('Brandenburg');
    await address.getByRole('button', { name: 'Save' }).click();
    await address.getByText('Saved.').waitFor();
    await address.getByLabel('State or region').fill('');
    const patches: unknown[] = [];
    page.on('request', (request) => request.method() === 'PATCH' && patches.push(request.postDataJSON()));
    await address.getByRole('button', { name: 'Save' }).click();
    await eventually(async () =>
      expect((await client.me()).shipping_address).toEqual({
        street_address: 'Lindenweg 4',
        postal_code: '10115',
        city: 'Berlin',
        country: 'DE',
      }),
    );
    expect([patches.length, (await client.me()).name]).toEqual([1, 'Kim Lee']);

    const sessions = section(page, 'Where you are logged in');
    expect(await sessions.getByRole('listitem').count()).toBe(2);
    await sessions.getByRole('button', { name: 'Log out everywhere else' }).click();
    await eventually(async () => expect(await sessions.getByRole('listitem').count()).toBe(1));

    const data = section(page, 'Your data');
    await data.getByText('are erased immediately, because its e-mail address was never confirmed.').waitFor();
    const saved = page.waitForEvent('download');
    await data.getByLabel('Present password').first().fill(password);
    await data.getByRole('button', { name: 'Save my data' }).click();
    expect(JSON.parse(await readFile(await (await saved).path(), 'utf8'))).toMatchObject({ account: { email } });

    const change = section(page, 'Password');
    await change.getByLabel('Present password').fill(password);
    await change.getByLabel('New password').fill(newPassword);
    await change.getByRole('button', { name: 'Change the password' }).click();
    await change.getByText('The password is changed').waitFor();
    await page.reload();
    await section(page, 'You').waitFor();
  });

  it('the account page closes an account with a confirmed address after a week, and keeps it when asked to', async () => {
    const { email, client } = await shop.customer();
    await shop.verify(email);
    const page = await shop.open();
    await logIn(page, email);
    const data = section(page, 'Your data');
    await data.getByLabel('Present password').last().fill(password);
    await data.getByRole('button', { name: 'Close my account' }).click();
    await data.getByText('Your account will be erased on').waitFor();
    await data.getByLabel('Present password').last().fill(password);
    await data.getByRole('button', { name: 'Keep my account' }).click();
    await data.getByRole('button', { name: 'Close my account' }).waitFor();
    expect(await client.me()).not.toHaveProperty('erase_at');
  });

  it('two tabs share the session and the cart', async () => {
    const { email } = await shop.customer();
    const first = await shop.open();
    const second = await first.context().newPage();
    await Promise.all([first.goto('/'), second.goto('/')]);
    await logIn(first, email);
    const own = second.getByRole('banner').getByRole('link', { name: 'Account' });
    await own.waitFor();
    await addToCart(first, await shop.product('Hand Trowel'));
    await second.getByRole('link', { name: 'Cart, 1 item' }).waitFor();
    await first.goto('/orders');
    await first.getByRole('heading', { name: 'No orders yet' }).waitFor();
    // The end of a session changes nothing in another one.
    const answer = await second.evaluate(`new Promise((resolve) => {
      const channel = new BroadcastChannel('storefront session');
      channel.onmessage = ({ data }) => resolve(Object.keys(data));
      channel.postMessage({ ended: 'another' });
      channel.postMessage({ isQuestion: true });
    })`);
    expect(answer).toEqual(['tokens']);
    await own.click();
    await second.getByRole('button', { name: 'Log out', exact: true }).click();
    await first.waitForURL('**/log-in?next=%2Forders');
    await second.waitForURL((url) => url.pathname === '/');
  });

  it('a tab that comes back to the storefront uses the tokens that another tab has renewed', async () => {
    const { email } = await shop.customer();
    const first = await shop.open();
    await logIn(first, email);
    const second = await first.context().newPage();
    await second.goto('/account');
    await section(second, 'You').waitFor();
    await first.goto('/docs');
    let used: string | undefined;
    await second.route('**/v1/accounts/me', (route) => route.fulfill({ status: 401 }), { times: 1 });
    second.on('request', (request) => {
      if (request.url().endsWith('/v1/accounts/me')) used = request.headers().authorization;
    });
    await second.getByRole('link', { name: 'Your orders' }).first().click();
    await second.getByRole('heading', { name: 'No orders yet' }).waitFor();
    const renewal = second.waitForResponse('**/v1/tokens');
    await second.goBack();
    await renewal;
    await section(second, 'You').waitFor();
    expectRefusal(401);
    const [request] = await Promise.all([first.waitForRequest('**/v1/accounts/me'), first.goBack()]);
    expect(request.headers().authorization).toBe(used);
  });

  it.each(screens)(
    'the pages of orders and account fit a %s in the %s color scheme, are accessible, and write nothing to the console',
    async (_device, colorScheme, viewport) => {
      const { email, client } = await shop.customer();
      const items = [{ productId: (await shop.product('Wool Sweater')).id, quantity: 2 }];
      const order = await client.orders.place({ items, shipping_address: { city: 'Berlin', country: 'DE' } });
      const page = await shop.open({ colorScheme, viewport, locale: colorScheme === 'dark' ? 'de-DE' : 'en-GB' });
      const check = async (path: string): Promise<void> => {
        await page.goto(path);
        await page.locator('main h1').waitFor();
        await page.waitForLoadState('networkidle').catch(() => {});
        expect([path, await overflow(page), await findings(page)]).toEqual([path, 0, []]);
      };
      for (const path of ['/log-in', '/register', '/reset', '/reset#token=a', '/verify-email', '/checkout'])
        await check(path);
      await page.goto('/log-in?next=/account');
      await page.locator('main input[type=email]').fill(email);
      await page.locator('main input[type=password]').fill(password);
      await page.locator('main button[type=submit]').click();
      await page.waitForURL((url) => url.pathname === '/account');
      await page.goto(`/p/${items[0]?.productId}`);
      await page.locator('#add').click();
      await page.locator('.notice.success').waitFor();
      for (const path of ['/account', '/orders', '/checkout']) await check(path);
      await page.goto(`/orders/${order.id}`);
      await page.locator('#cancel').click();
      await page.locator('dialog h2').waitFor();
      expect([await overflow(page), await findings(page)]).toEqual([0, []]);
    },
  );
});
