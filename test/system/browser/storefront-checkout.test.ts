// The checkout of the example storefront, in a real browser against a real shop.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import {
  addToCart,
  fillAddress,
  logIn,
  orderId,
  ordersOf,
  place,
  placeButton,
  type StorefrontShop,
  startStorefront,
} from './storefront-visitor.ts';

let shop: StorefrontShop;

beforeAll(async () => {
  shop = await startStorefront();
});

afterEach(async () => {
  await Promise.all(shop.browser.contexts().map((context) => context.close()));
  expect(shop.complaints.splice(0)).toEqual([]);
});

afterAll(() => shop?.stop());

describe('the storefront', () => {
  it('the storefront sends an order without a response again when asked to, also from the cart, and never for another customer', async () => {
    const [sender, next] = [await shop.customer(), await shop.customer('Sam Next')];
    const page = await shop.open();
    await logIn(page, sender.email);
    await addToCart(page, await shop.product('Hand Trowel'));
    await page.goto('/checkout');
    await fillAddress(page);
    const lose = () => page.route('**/v1/orders', (route) => route.abort());
    await lose();
    await placeButton(page).and(page.locator('[aria-disabled=false]')).click();
    await page.getByText('The order may have arrived.').waitFor();
    await page.goto('/cart');
    await page.getByText('This order was sent, and its outcome is not known yet.').waitFor();
    await page.goto('/account');
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await page.unroute('**/v1/orders');

    await logIn(page, next.email, '/checkout');
    await page.getByText('Another account sent an order of this cart').waitFor();
    expect(await ordersOf(next)).toEqual([]);
    expect(await ordersOf(sender)).toEqual([]);
    await page.getByRole('button', { name: 'Go on with this cart' }).click();
    await placeButton(page).and(page.locator('[aria-disabled=false]')).waitFor();
    expect(await page.getByLabel('City').inputValue()).toBe('');

    await fillAddress(page);
    await lose();
    await placeButton(page).and(page.locator('[aria-disabled=false]')).click();
    await page.getByText('The order may have arrived.').waitFor();
    await page.unroute('**/v1/orders');
    await page.getByRole('button', { name: 'Send the order again' }).click();
    await page.getByText('Thank you. Your order is placed.').waitFor();
    expect(await ordersOf(next)).toEqual([orderId(page)]);
    for (const message of shop.complaints.splice(0)) expect(message).toContain('net::ERR_FAILED');
  });

  it('the storefront places an order with what the form shows, at the price that it shows', async () => {
    const customer = await shop.customer();
    const page = await shop.open();
    await logIn(page, customer.email);
    const trowel = await shop.product('Hand Trowel');
    await addToCart(page, trowel);
    await page.goto('/checkout');
    await fillAddress(page);
    await placeButton(page).and(page.locator('[aria-disabled=false]')).waitFor();
    // A code without a click on its button, and a key press in the form.
    await page.getByLabel('Discount code').fill('welcome 10');
    await page.getByLabel('City').press('Enter');
    await page.getByText('The price is being calculated for what is entered.').waitFor();
    await page.getByText('welcome 10 is applied').waitFor();
    expect(await ordersOf(customer)).toEqual([]);
    const id = await place(page);
    expect((await customer.client.orders.get(id)).discounts).toMatchObject([{ code: expect.anything() }]);
  });

  it('the checkout begins with the address of the account, which the next customer of the browser does not see', async () => {
    const [first, next] = [await shop.customer(), await shop.customer()];
    const shipping_address = { street_address: 'Lindenweg 4', postal_code: '10115', city: 'Berlin', country: 'DE' };
    await first.client.accounts.update('me', { shipping_address });
    const page = await shop.open();
    await addToCart(page, await shop.product('Hand Trowel'));
    await page.goto('/checkout');
    await page.getByText('Orders belong to an account.').waitFor();
    await logIn(page, first.email, '/checkout');
    await eventually(async () => expect(await page.getByLabel('City').inputValue()).toBe('Berlin'));
    await page.getByLabel('City').fill('Potsdam');
    await page.getByLabel('City').blur();
    await placeButton(page).and(page.locator('[aria-disabled=false]')).waitFor();
    await page.goto('/account');
    await page.getByRole('button', { name: 'Log out', exact: true }).click();
    await page.waitForURL((url) => url.pathname === '/');
    await logIn(page, next.email, '/checkout');
    await page.getByText(`You order as ${next.email}.`).waitFor();
    expect(await page.getByLabel('City').inputValue()).toBe('');

    // Another tab empties the cart.
    const other = await page.context().newPage();
    await other.goto('/cart');
    const quantity = other.locator('main input[type=number]');
    await quantity.fill('');
    await quantity.blur();
    expect(await quantity.inputValue()).toBe('1');
    await other.getByRole('button', { name: 'Remove Hand Trowel' }).click();
    await page.getByRole('heading', { name: 'Your cart is empty' }).waitFor();
  });
});
