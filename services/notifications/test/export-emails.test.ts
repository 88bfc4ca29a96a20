// POST /internal/accounts/{accountId}/export
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmailTokenSeal, createServiceTokens } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { joinEvents, type ShopEvents, someOrder } from './shop-events.ts';

const secret = 'only-for-tests-only-for-tests-only-for-tests';
const serviceTokens = createServiceTokens({ secrets: [secret], name: 'accounts' });

let services: TestServices;
let events: ShopEvents;

beforeAll(async () => {
  services = await startServices(['notifications']);
  events = await joinEvents(services.database.urls.events);
});
afterAll(async () => {
  await events?.close();
  await services?.stop();
});

const pathOf = (accountId: string): string => `/internal/accounts/${accountId}/export`;

function page(accountId: string, body: object = {}, audience = 'notifications') {
  const path = pathOf(accountId);
  const Authorization = serviceTokens.sign(audience, { method: 'POST', path, body: JSON.stringify(body) });
  return services.service('notifications').client.post(path, { body, headers: { Authorization } });
}

describe('200', () => {
  it('POST /internal/accounts/{accountId}/export returns the recipient and the e-mails, without their tokens and their contents', async () => {
    const { accountId, account, orderId, created } = someOrder();
    await events.send('account.registered.v1', { ...account, emailVerified: true, locale: 'fr' });
    await events.send('order.created.v1', created);
    const about = { kind: 'email-verification', accountId, email: 'new@example.org' } as const;
    const sealedToken = createEmailTokenSeal([secret]).seal('the-token', about);
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    await events.send('email-token.issued.v1', { ...about, name: 'Ada', sealedToken, expiresAt });
    const sent = { status: 'sent', attempts: 1, createdAt: expect.any(String), settledAt: expect.any(String) };
    await eventually(async () => {
      const { status, body, text } = await page(accountId);
      expect([status, body]).toEqual([
        200,
        {
          recipient: {
            email: 'ada@example.org',
            emailVerified: true,
            name: 'Ada Lovelace',
            locale: 'fr',
            updatedAt: expect.any(String),
          },
          items: expect.arrayContaining([
            { id: expect.any(String), kind: 'order-received', orderId, ...sent },
            { id: expect.any(String), kind: 'email-verification', address: 'new@example.org', ...sent },
          ]),
        },
      ]);
      expect(body.items).toHaveLength(2);
      expect(text).not.toMatch(/the-token|sealedToken|Desk lamp/);
    }, 15_000);
  });

  it('POST /internal/accounts/{accountId}/export continues after the last e-mail of a page', async () => {
    const accountId = newId();
    const ids = Array.from({ length: 401 }, () => newId());
    await services.service('notifications').database.query(
      `INSERT INTO notifications (id, order_id, account_id, kind, details, request_id, status, settled_at)
       SELECT id, gen_random_uuid(), $2, 'order-lines-cancelled 7', '{}', 'request', 'sent', now()
       FROM unnest($1::uuid[]) AS id`,
      [ids, accountId],
    );
    const found: string[] = [];
    let after: unknown;
    do {
      const { items, next } = (await page(accountId, after === undefined ? {} : { after })).body;
      expect(items[0]).toMatchObject({ kind: 'order-lines-cancelled' });
      found.push(...items.map(({ id }) => id));
      after = next;
    } while (after !== undefined);
    expect(found).toEqual(ids);
  });

  it('an export of an unknown account is an empty page', async () => {
    expect((await page(newId())).body).toEqual({ items: [] });
  });
});

describe('401', () => {
  it('POST /internal/accounts/{accountId}/export returns 401 without a service token, and to one for another service', async () => {
    const accountId = newId();
    const { client } = services.service('notifications');
    const token = await services.issuer.sign({ accountId, loggedIn: true });
    expect((await client.post(pathOf(accountId), { body: {} })).status).toBe(401);
    expect((await client.post(pathOf(accountId), { body: {}, token })).status).toBe(401);
    expect((await page(accountId, {}, 'orders')).status).toBe(401);
  });
});

describe('404', () => {
  it('POST /internal/accounts/{accountId}/export returns 404 for an account that is not a UUID', async () => {
    expect((await page('me')).status).toBe(404);
  });
});
