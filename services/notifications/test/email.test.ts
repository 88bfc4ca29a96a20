// The content of e-mails. A customer's text appears only as text.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { composeEmail } from '../src/email/email.ts';
import { readTemplates } from '../src/email/templates.ts';
import { createTokenOpener } from '../src/email/token-email.ts';
import { someOrder } from './shop-events.ts';

const secret = 'only-for-tests-only-for-tests-only-for-tests';
const noLinks = { 'email-verification': undefined, 'email-change-undo': undefined, 'password-reset': undefined };
const templates = readTemplates(fileURLToPath(new URL('../templates', import.meta.url)), 'en');
const sender = {
  shopName: 'The Shop',
  address: 'orders@shop.example',
  tokens: createTokenOpener([secret], noLinks),
  templates,
};

const ada = { email: 'ada@example.org', name: 'Ada', locale: null };

describe('composeEmail', () => {
  it('composeEmail lists the items and the total of an order received', () => {
    const { created, orderId } = someOrder();
    const email = composeEmail(
      sender,
      { email: 'ada@example.org', name: 'Ada', locale: null },
      { kind: 'order-received', details: created },
    );
    expect(email.text).toBe(
      [
        'Hello Ada,',
        'Thank you. We have received your order and will tell you when it ships.',
        '2 × Desk lamp  EUR 39.98\n1 × Chair      EUR 120.50\nTotal          EUR 160.48',
        `Your order number is ${orderId}.`,
        'The Shop\n',
      ].join('\n\n'),
    );
    expect(email.html).toContain('<tr><td>Total</td><td>EUR 160.48</td></tr>');
  });

  it('composeEmail shows shipping, discounts and taxes between the items and the total', () => {
    const { created } = someOrder();
    const priced = {
      ...created,
      shipping: { methodId: created.orderId, name: { en: 'Parcel', de: 'Paket' }, price: 4.9 },
      discounts: [{ name: '10 % off at www.evil.example', code: 'TEN', amount: 16.05 }],
      taxes: [{ name: 'VAT', rate: 8.1, base: 138.11, amount: 11.19 }],
      pricesIncludeTax: true,
      totalCost: 149.33,
    };
    const textOf = (locale: string | null, details = priced) =>
      composeEmail(sender, { ...ada, locale }, { kind: 'order-received', details }).text;
    expect(textOf(null)).toContain(
      [
        '1 × Chair                     EUR 120.50',
        'Shipping: Parcel              EUR 4.90',
        '10 % off at www.\u200bevil.\u200bexample  -EUR 16.05',
        'Including VAT 8.1%            EUR 11.19',
        'Total                         EUR 149.33',
      ].join('\n'),
    );
    expect(textOf('de')).toMatch(/\nVersand: Paket +4,90 EUR\n.*\nEnthaltene VAT 8,1 % +11,19 EUR\nSumme /);
    expect(textOf('fr')).toMatch(/\nLivraison: Parcel +4,90 EUR\n.*\nDont VAT 8,1 % +11,19 EUR\nTotal /);
    const exempt = { ...priced, taxes: [], taxExempt: true as const, taxExemption: 11.19, totalCost: 138.14 };
    expect(textOf(null, exempt)).toMatch(/\nReverse charge: you owe the tax +-EUR 11\.19\nTotal +EUR 138\.14\n/);
    expect(textOf('de', exempt)).toMatch(/\nSteuerschuldnerschaft des Leistungsempfängers +-11,19 EUR\nSumme /);
    const { taxExemption: _, ...added } = exempt;
    expect(textOf('fr', { ...added, pricesIncludeTax: false })).toMatch(/\nAutoliquidation +0,00 EUR\nTotal /);
    expect(textOf(null, { ...priced, pricesIncludeTax: false })).toMatch(/\nVAT 8\.1% +EUR 11\.19\n/);
  });

  it('composeEmail shows who gets the parcel and where, with every character and without a link', () => {
    const { created } = someOrder();
    const shippingAddress = { recipient: 'Bo', street_address: 'www.evil.example', postal_code: '4052', city: 'Basel' };
    const details = { ...created, shippingAddress };
    const recipient = { email: 'a@example.org', name: 'Ada', locale: null };
    const email = composeEmail(sender, recipient, { kind: 'order-received', details });
    expect(email.text).toContain('It goes to:\n\nBo\nwww.\u200bevil.\u200bexample\n4052 Basel\n');
    expect(email.html).toContain('<td>www<span>.</span>evil<span>.</span>example</td>');
  });

  it('composeEmail writes amounts with the decimals of their currency', () => {
    const { created } = someOrder();
    const details = {
      ...created,
      currency: 'JPY',
      totalCost: 1200,
      items: created.items.map((item) => ({ ...item, lineTotal: 600 })),
    };
    const email = composeEmail(
      sender,
      { email: 'a@example.org', name: 'Ada', locale: null },
      { kind: 'order-received', details },
    );
    expect(email.text).toContain('Total          JPY 1,200');
  });

  it('composeEmail escapes names and reasons in HTML, and keeps them on one line', () => {
    const { cancelled } = someOrder();
    const details = { ...cancelled, reason: 'line\r\nBcc: all <script>alert("1")</script>' };
    const recipient = { email: 'a@example.org', name: '<img src=x>\r\nSubject: \u202efake', locale: null };
    const email = composeEmail(sender, recipient, { kind: 'order-cancelled', details });
    expect(email.to.name).toBe('<img src=x> Subject: fake');
    expect(email.text).toMatch(/^Hello <img src=x> Subject: fake,\n/);
    expect(email.html).not.toContain('<img');
    expect(email.text).toContain('Reason: line Bcc: all <script>alert("1")</script>\n');
    expect(email.html).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
    expect(email.html).not.toContain('<script');
  });

  it('composeEmail shows how a parcel can be followed, with the https address as the only link', () => {
    const { reference } = someOrder();
    const tracking = {
      carrier: 'Post & Co',
      tracking_number: '9900 1234',
      tracking_url: 'https://post.example/p?id=9900&lang=de',
    };
    const details = { ...reference, tracking };
    const email = composeEmail(
      sender,
      { email: 'a@example.org', name: 'Ada', locale: null },
      { kind: 'order-shipped', details },
    );
    expect(email.text).toContain(
      'Carrier          Post & Co\nTracking number  9900 1234\n\nhttps://post.example/p?id=9900&lang=de\n',
    );
    expect(email.html).toContain('<td>Post &amp; Co</td>');
    const address = 'https://post.example/p?id=9900&amp;lang=de';
    expect(email.html).toContain(`<a class="button" href="${address}">Follow the parcel</a>`);
    expect(email.html.match(/<a /g)).toHaveLength(1);
  });

  it('composeEmail makes no link of a carrier, a number or an address that is not https', () => {
    const tracking = {
      carrier: 'www.evil.example',
      tracking_number: 'https://evil.example',
      tracking_url: 'http://evil.example',
    };
    const details = { ...someOrder().reference, tracking };
    const email = composeEmail(
      sender,
      { email: 'a@example.org', name: 'Ada', locale: null },
      { kind: 'order-shipped', details },
    );
    expect(email.text + email.html).not.toMatch(/evil\.e|<a /);
    expect(email.text).toContain(
      'Carrier          www.\u200bevil.\u200bexample\nTracking number  https:\u200b//evil.\u200bexample\n',
    );
  });

  it('composeEmail writes the address of a parcel in ASCII, and makes no link of one with a login', () => {
    const compose = (tracking_url: string) => {
      const details = { ...someOrder().reference, tracking: { tracking_url } };
      return composeEmail(sender, ada, { kind: 'order-shipped', details });
    };
    const international = compose('https://p\u043est.example/\u202e"><b>?x= y');
    const link = 'https://xn--pst-sed.example/%E2%80%AE%22%3E%3Cb%3E?x=%20y';
    expect(international.text).toContain(`\n\n${link}\n\n`);
    expect(international.html).toContain(`<a class="button" href="${link}">`);
    const login = compose('https://post.example@evil.example/');
    expect(login.text + login.html).not.toMatch(/evil|<a /);
  });

  it('composeEmail makes no link of the name of a product', () => {
    const { created } = someOrder();
    const items = created.items.map((item) => ({ ...item, name: 'Win at evil.example' }));
    const email = composeEmail(sender, ada, { kind: 'order-received', details: { ...created, items } });
    expect(email.text).toContain('2 × Win at evil.\u200bexample  EUR 39.98\n');
    expect(email.html).toContain('Win at evil<span>.</span>example');
  });

  it.each([
    ['email-verification', undefined, 'Hello,', ''],
    ['password-reset', undefined, 'Hello,', ''],
    ['password-reset', 'Ada & Co.KG', 'Hello Ada & Co.\u200bKG,', 'Ada & Co.\u200bKG'],
    ['email-change-undo', 'Ada', 'Hello Ada,', 'Ada'],
  ] as const)(
    'composeEmail greets the account owner of a %s by the name of its event: %s',
    (kind, name, greeting, to) => {
      const holder = { accountId: 'a', email: 'a@example.org' };
      const sealedToken = createEmailTokenSeal([secret]).seal('token', { kind, ...holder });
      const details = {
        ...holder,
        eventId: 'e',
        sealedToken,
        expiresAt: '2026-11-22T03:05:00.000Z',
        ...(name && { name }),
      };
      const recipient = { ...ada, name: 'Win 500 EUR, call 0800 123' };
      const email = composeEmail(sender, recipient, { kind, details });
      expect(email.text.split('\n')[0]).toBe(greeting);
      expect(email.to.name).toBe(to);
      expect(email.text + email.html).not.toContain('Win 500');
    },
  );

  it('composeEmail notifies the owner of an account of a change without text of a client', () => {
    const details = { accountId: 'a', eventId: 'e', changedAt: '2026-11-21T03:05:00.000Z' };
    const recipient = { email: 'old@example.org', name: 'Ada', locale: null };
    const address = composeEmail(sender, recipient, { kind: 'email-changed', details });
    expect(address).toMatchObject({ name: 'e.email-changed', messageId: '<email-changed.e@shop.example>' });
    expect(address.to.address).toBe('old@example.org');
    expect(address.text).toContain(
      'The e-mail address of your account was changed on November 21, 2026 at 3:05 AM UTC.',
    );
    const password = composeEmail(sender, recipient, { kind: 'password-changed', details });
    expect(password.text).toContain('The password of your account was changed on November 21, 2026 at 3:05 AM UTC.');
    expect(password.text).not.toContain('order number');
  });

  it.each([
    ['customer', 'Your order is cancelled. Nothing of it will be shipped.', true],
    ['staff', 'The shop has cancelled your order. Nothing of it will be shipped.', true],
    ['system', 'Your order has expired and is cancelled. Nothing of it will be shipped.', false],
  ] as const)('composeEmail says who cancelled the order: %s', (cancelledBy, sentence, showsReason) => {
    const details = { ...someOrder().cancelled, cancelledBy, reason: 'No longer made' };
    const email = composeEmail(
      sender,
      { email: 'a@example.org', name: 'Ada', locale: null },
      { kind: 'order-cancelled', details },
    );
    expect(email.text).toContain(sentence);
    expect(email.text.includes('Reason: No longer made')).toBe(showsReason);
  });

  it('composeEmail names the cancelled units and what the order has after that, with the new total', () => {
    const { linesCancelled, orderId } = someOrder();
    const recipient = { email: 'a@example.org', name: 'Ada', locale: null };
    const email = composeEmail(sender, recipient, { kind: 'order-lines-cancelled', details: linesCancelled });
    expect(email).toMatchObject({
      name: `${orderId}.order-lines-cancelled.2`,
      messageId: `<order-lines-cancelled.2.${orderId}@shop.example>`,
      subject: 'A part of your order is cancelled',
    });
    expect(email.text).toBe(
      [
        'Hello Ada,',
        'A part of your order is cancelled:',
        '1 × Desk lamp',
        'Reason: one is enough',
        'Your order now has:',
        '1 × Desk lamp  EUR 19.99\n1 × Chair      EUR 120.50\nTotal          EUR 140.49',
        `Your order number is ${orderId}.`,
        'The Shop\n',
      ].join('\n\n'),
    );
    const details = { ...linesCancelled, cancelledBy: 'staff' as const, reason: 'see www.evil.example' };
    const byStaff = composeEmail(sender, recipient, { kind: 'order-lines-cancelled', details });
    expect(byStaff.text).toContain('The shop has cancelled a part of your order:');
    expect(byStaff.text).toContain('Reason: see www.\u200bevil.\u200bexample\n');
  });

  it('composeEmail states until when an order has to be paid, and how much', () => {
    const { created } = someOrder();
    const recipient = { email: 'a@example.org', name: 'Ada', locale: null };
    const details = { ...created, paymentDueAt: '2026-11-21T03:05:00.000Z' };
    const email = composeEmail(sender, recipient, { kind: 'order-received', details });
    expect(email.text).toContain(
      'Please pay EUR 160.48 by November 21, 2026 at 3:05 AM UTC, unless you have paid already.',
    );
  });

  it('composeEmail confirms a payment and a refund with their amounts', () => {
    const { paid, refunded, orderId } = someOrder();
    const recipient = { email: 'a@example.org', name: 'Ada', locale: 'de' };
    const payment = composeEmail(sender, recipient, { kind: 'order-paid', details: paid });
    expect(payment).toMatchObject({ name: `${orderId}.order-paid`, subject: 'Wir haben Ihre Zahlung erhalten' });
    expect(payment.text).toContain('Ihre Zahlung von 160,48 EUR erhalten');
    const details = { ...refunded, currency: 'JPY', amount: 1200, orderVersion: 4 };
    const refund = composeEmail(sender, recipient, { kind: 'order-refunded', details });
    expect(refund.name).toBe(`${orderId}.order-refunded.4`);
    expect(refund.text).toContain('Wir haben Ihnen 1.200 JPY erstattet.');
  });

  it('composeEmail names the refund of a cancellation only when something was paid', () => {
    const { cancelled, linesCancelled } = someOrder();
    const recipient = { email: 'a@example.org', name: 'Ada', locale: null };
    const refund = { amount: 19.99, currency: 'EUR' };
    const texts = [{}, { refund }].flatMap((more) => [
      composeEmail(sender, recipient, { kind: 'order-cancelled', details: { ...cancelled, ...more } }).text,
      composeEmail(sender, recipient, { kind: 'order-lines-cancelled', details: { ...linesCancelled, ...more } }).text,
    ]);
    const sentences = texts.map((text) => text.includes('We will refund EUR 19.99 to you.'));
    expect(sentences).toEqual([false, false, true, true]);
    expect(texts.map((text) => text.includes('refund'))).toEqual(sentences);
  });

  it.each([
    ['cancelled', {}, 'The order is cancelled, so we will refund EUR 99.00 to you.\n\nYour order number'],
    ['paid-before', {}, 'The order was paid before, so we will refund EUR 99.00 to you.\n\nYour order number'],
    [
      'amount-differs',
      { orderCost: 160.48 },
      'This is not the amount of the order, so we will refund EUR 99.00 to you.\n\n' +
        'Your order costs EUR 160.48 and is not paid yet.\n\nYour order number',
    ],
  ] as const)('composeEmail says why a payment is refunded: %s', (cause, more, text) => {
    const details = { ...someOrder().refundDue, cause, ...more, orderVersion: 3 };
    const recipient = { email: 'a@example.org', name: 'Ada', locale: null };
    const email = composeEmail(sender, recipient, { kind: 'order-refund-due', details });
    expect(email.text).toContain(`We have received a payment of EUR 99.00 for your order. ${text}`);
  });

  it('composeEmail omits a reason that was not given', () => {
    const { cancelled } = someOrder();
    for (const reason of [null, '  ']) {
      const details = { ...cancelled, reason };
      const email = composeEmail(
        sender,
        { email: 'a@example.org', name: 'Ada', locale: null },
        { kind: 'order-cancelled', details },
      );
      expect(email.text).not.toContain('Reason');
    }
  });

  it('composeEmail gives each notification a Message-ID of its own that never changes', () => {
    const order = someOrder();
    const recipient = { email: 'a@example.org', name: 'Ada', locale: null };
    const first = composeEmail(sender, recipient, { kind: 'order-shipped', details: order.reference });
    const again = composeEmail(
      sender,
      { ...recipient, name: 'B' },
      { kind: 'order-shipped', details: order.reference },
    );
    const other = composeEmail(sender, recipient, { kind: 'order-cancelled', details: order.cancelled });
    expect(first.messageId).toBe(`<order-shipped.${order.orderId}@shop.example>`);
    expect(again.messageId).toBe(first.messageId);
    expect(other.messageId).not.toBe(first.messageId);
  });
});
