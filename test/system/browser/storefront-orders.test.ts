// Checkout, orders and returns of the example storefront, in a real browser against a real shop.
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import {
  addToCart,
  type Customer,
  fillAddress,
  logIn,
  orderId,
  ordersOf,
  overflow,
  password,
  place,
  placeButton,
  type StorefrontShop,
  startStorefront,
} from './storefront-visitor.ts';

let shop: StorefrontShop;
let staff: Customer;

beforeAll(async () => {
  shop = await startStorefront();
  staff = await shop.customer('Sam', 'orders:fulfil');
});

afterEach(async () => {
  await Promise.all(shop.browser.contexts().map((context) => context.close()));
  expect(shop.complaints.splice(0)).toEqual([]);
});

afterAll(() => shop?.stop());

const money = (amount: number): string =>
  new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' }).format(amount);
describe('the storefront', () => {
  it('the storefront takes a visitor from the cart over registration and checkout to an order that shows each step as it happens', async () => {
    const kettle = await shop.product('Gooseneck Kettle');
    const page = await shop.open({ acceptDownloads: true });
    await addToCart(page, kettle, 2);
    await page.goto('/checkout');
    await page.getByText('Orders belong to an account.').waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Create an account' }).click();
    const email = `kim-${Date.now()}@example.com`;
    await page.getByLabel('Name').fill('Kim Park');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('main').getByRole('button', { name: 'Create an account' }).click();
    await page.waitForURL('**/checkout');

    await page.getByText('This demo takes no payment.').waitFor();
    await fillAddress(page);
    await page.getByRole('radio', { name: /^Express/ }).check();
    await page.getByLabel('Discount code').fill('welcome 10');
    await page.getByLabel('Discount code').press('Enter');
    await page.getByText('welcome 10 is applied').waitFor();
    // Two kettles less 10 %, and express delivery.
    const total = Math.round(kettle.price * 2 * 90) / 100 + 12.9;
    await page.getByRole('button', { name: `Place the order for ${money(total)}` }).waitFor();
    const id = await place(page);

    await page.locator('[aria-current=step]', { hasText: 'Placed' }).waitFor();
    await page.locator('.totals .total', { hasText: money(total) }).waitFor();
    await page.getByText('E-mails about orders wait until you have confirmed your address.').waitFor();

    await staff.client.orders.process(id);
    await page.locator('[aria-current=step]', { hasText: 'Being packed' }).waitFor();
    const tracking = { carrier: 'DHL', tracking_number: '0034', tracking_url: 'https://example.com/0034' };
    await staff.client.orders.ship(id, tracking);
    await page.locator('[aria-current=step]', { hasText: 'On its way' }).waitFor();
    await page.getByText('The order has changed: On its way.').waitFor();
    expect(await page.getByRole('link', { name: 'Follow the parcel' }).getAttribute('href')).toBe(
      tracking.tracking_url,
    );
    await page.getByText('We handed the parcel over.').waitFor();

    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save the invoice' }).click();
    expect(await readFile(await (await saved).path(), 'utf8')).toContain('Acme GmbH');

    await page.getByRole('button', { name: 'Return something' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Gooseneck Kettle', { exact: true }).selectOption('1');
    await dialog.getByLabel('Reason: Gooseneck Kettle').selectOption('damaged');
    await dialog.getByLabel(/^Comment/).fill('The handle is broken.');
    await dialog.getByRole('button', { name: 'Ask for the return' }).click();
    await page.getByText('You asked to return 1 × Gooseneck Kettle.').waitFor();
    const { items } = await staff.client.returns.page({ accountId: 'all', status: ['requested'] }, { limit: 10 });
    const asked = items.find(({ orderId: of }) => of === id);
    expect(asked).toMatchObject({ comment: 'The handle is broken.', lines: [{ quantity: 1, reason: 'damaged' }] });
    await staff.client.returns.refuse(asked?.id ?? '', { reason: 'The parcel was opened.' });
    await page.getByText('The parcel was opened.').waitFor();
  });

  it('the storefront places an order once when the page is loaded again before the response arrives', async () => {
    const customer = await shop.customer();
    const page = await shop.open();
    await logIn(page, customer.email);
    await addToCart(page, await shop.product('Hand Trowel'));
    await page.goto('/checkout');
    await fillAddress(page);
    const sent: string[] = [];
    await page.route('**/v1/orders', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      sent.push(route.request().headers()['idempotency-key'] ?? '');
      // The shop takes the order, and its response gets lost.
      await route.fetch();
      await route.abort();
    });
    await placeButton(page).and(page.locator('[aria-disabled=false]')).click();
    await eventually(() => expect(sent.length).toBeGreaterThan(0));
    await eventually(async () => expect(await ordersOf(customer)).toHaveLength(1));
    await page.unroute('**/v1/orders');
    await page.reload();
    await page.getByText('Thank you. Your order is placed.').waitFor();
    expect(await ordersOf(customer)).toEqual([orderId(page)]);
    expect(new Set(sent).size).toBe(1);
    for (const message of shop.complaints.splice(0)) expect(message).toContain('net::ERR_FAILED');
  });

  it('the storefront cancels units of an order, then the rest, and says what comes back', async () => {
    const customer = await shop.customer();
    const [notebook, pen] = [await shop.product('Notebook A5'), await shop.product('Fountain Pen')];
    const items = [
      { productId: notebook.id, quantity: 3 },
      { productId: pen.id, quantity: 1 },
    ];
    const { id } = await customer.client.orders.place({ items });
    const page = await shop.open();
    await logIn(page, customer.email, `/orders/${id}`);
    await page.getByText('No address was given.').waitFor();
    await page.getByRole('button', { name: 'Cancel the order' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('You have paid nothing for this order').waitFor();
    await dialog.getByLabel('Notebook A5').selectOption('3');
    await dialog.getByLabel('Fountain Pen').selectOption('1');
    await dialog.getByRole('button', { name: 'Cancel now' }).click();
    await dialog.locator('.notice.danger', { hasText: 'Choose at least one unit.' }).waitFor();
    await dialog.getByLabel('Notebook A5').selectOption('2');
    await dialog.getByLabel('Fountain Pen').selectOption('1');
    await dialog.getByLabel(/^Why/).fill('Two are enough');
    await dialog.getByRole('button', { name: 'Cancel now' }).click();
    await page.getByText('You cancelled 1 × Notebook A5.').waitFor();
    await page.getByText('Reason: Two are enough').waitFor();
    expect((await customer.client.orders.get(id)).itemsSummary).toMatchObject([{ quantity: 2 }, { quantity: 1 }]);

    await page.getByRole('button', { name: 'Cancel the order' }).click();
    await dialog.getByRole('button', { name: 'Cancel now' }).click();
    await page.getByText('You cancelled the order.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect((await customer.client.orders.get(id)).status).toBe('cancelled');
    expect(await page.getByRole('button', { name: 'Cancel the order' }).count()).toBe(0);

    await page.getByRole('link', { name: 'All orders' }).click();
    await page.locator('.order-list .state', { hasText: 'Cancelled' }).waitFor();
  });

  it('the storefront explains each refusal of the checkout beside its place', async () => {
    const customer = await shop.customer();
    const page = await shop.open();
    await logIn(page, customer.email);
    const few = await shop.product('Kitchen Herb Seeds');
    await addToCart(page, few, 4);
    await page.goto('/checkout');
    await page.getByLabel('Discount code').fill('NOTHING');
    await page.getByRole('button', { name: 'Apply' }).click();
    const code = page.getByLabel('Discount code');
    await eventually(async () => expect(await code.getAttribute('aria-invalid')).toBe('true'));
    await page.getByText('There is no discount with this code.', { exact: true }).waitFor();
    expect(await placeButton(page).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('button', { name: 'Remove' }).click();
    await fillAddress(page, { city: '' });
    await placeButton(page).and(page.locator('[aria-disabled=false]')).click();
    await page.getByText('Please fill in this field.').waitFor();
    expect(await page.evaluate('document.activeElement.name')).toBe('shipping_address/city');
    // Another customer takes two of the four units that are left.
    const other = await shop.customer();
    await other.client.orders.place({ items: [{ productId: few.id, quantity: 2 }] });
    await page.getByLabel('City').fill('Berlin');
    await page.getByLabel('City').blur();
    await page.locator('.order-lines .fault').waitFor();
    expect(await placeButton(page).getAttribute('aria-disabled')).toBe('true');
    expect(await ordersOf(customer)).toEqual([]);
  });

  it('the storefront shows hostile names and addresses as text, and fits a narrow phone with them', async () => {
    const markup = '<img src=x onerror="document.title=1">';
    const rightToLeft = 'מוצר ‮טקסט';
    const long = 'W'.repeat(200);
    const customer = await shop.customer(`${markup} 👩‍🚀`);
    const page = await shop.open({ viewport: { width: 360, height: 780 } });
    await logIn(page, customer.email);
    await addToCart(page, await shop.product('Bird House'));
    await page.goto('/checkout');
    await fillAddress(page, { recipient: `${markup} 👩‍🚀`, street_address: long, city: rightToLeft });
    expect(await overflow(page)).toBe(0);
    await place(page);
    const address = page.locator('address');
    expect(await address.locator('span').allTextContents()).toEqual([
      `${markup} 👩‍🚀`,
      long,
      `10115 ${rightToLeft}`,
      'Germany',
    ]);
    expect(await overflow(page)).toBe(0);
    await page.goto('/account');
    expect(await page.getByLabel('Name').inputValue()).toBe(`${markup} 👩‍🚀`);
    expect(await overflow(page)).toBe(0);
    await page.goto('/orders');
    await page.locator('.order-list').waitFor();
    expect([await overflow(page), await page.title()]).toEqual([0, 'Your orders · Shop']);
  });
});
