// E-mails with tokens: their content, in which form the tokens are stored, and which addresses get notices.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createEmailTokenSeal } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import { eventually, startServices, type TestServices } from '@shop/shared/testing';
import { joinEvents, type ShopEvents } from './shop-events.ts';

const secret = 'only-for-tests-only-for-tests-only-for-tests';
const seal = createEmailTokenSeal([secret]);
const token = 'pYVgZb4Y9yHDlBrqNnQ2gUO9d3kRrpwrYqvXcOTk1mE';
const kinds = ['email-verification', 'email-change-undo', 'password-reset'] as const;
type Kind = (typeof kinds)[number];

let services: TestServices;
let events: ShopEvents;

beforeAll(async () => {
  const environment = { PASSWORD_RESET_URL: 'https://shop.example/reset?a=1&b=2#token={token}' };
  services = await startServices(['notifications'], { environment });
  events = await joinEvents(services.database.urls.events);
});
afterAll(async () => {
  await events?.close();
  await services?.stop();
});

/** Sends the event of a token. @returns the id of the event */
async function issue(
  kind: Kind,
  more: { email?: string; accountId?: string; expiresAt?: string; addressState?: 'verified' | 'registered' } = {},
) {
  const { email = 'ada@example.org', accountId = newId(), addressState } = more;
  const state = addressState === undefined ? {} : { addressState };
  const { expiresAt = new Date(Date.now() + 3_600_000).toISOString() } = more;
  const sealedToken = seal.seal(token, { kind, accountId, email });
  const id = newId();
  await events.send(
    'email-token.issued.v1',
    { accountId, kind, email, ...state, name: 'Ada', sealedToken, expiresAt },
    { id },
  );
  return { id, accountId };
}

const mail = (eventId: string, kind: string) =>
  eventually(async () => {
    const text = await readFile(join(services.mailFolder, `${eventId}.${kind}.eml`), 'utf8');
    return text.replaceAll('=\r\n', '').replaceAll('=3D', '=');
  }, 10_000);

const rowOf = async (accountId: string) => {
  const { rows } = await services
    .service('notifications')
    .database.query<{ status: string; problem: string | null; whole: string }>(
      'SELECT status, problem, n::text AS whole FROM notifications n WHERE account_id = $1',
      [accountId],
    );
  return rows[0];
};

describe('an e-mail with a token', () => {
  it.each([
    ['email-verification', 'POST /v1/email-verifications:'],
    ['email-change-undo', 'POST /v1/email-verifications/undo:'],
  ] as const)(
    'an e-mail with a token of the kind %s contains the token and the request when no link is set',
    async (kind, request) => {
      const { id } = await issue(kind);
      const text = await mail(id, kind);
      expect(text).toContain('To: ada@example.org\r\n');
      expect(text).toContain(request);
      expect(text).toContain(token);
    },
  );

  it.each([
    ['email-verification', 'registered', 'Hello,'],
    ['password-reset', 'registered', 'Hello,'],
    ['password-reset', undefined, 'Hello,'],
    ['password-reset', 'verified', 'Hello Ada,'],
  ] as const)(
    'an e-mail with a token of the kind %s to an address that is %s begins with "%s", before and after the event of its account',
    async (kind, addressState, greeting) => {
      const accountId = newId();
      const more = { accountId, ...(addressState && { addressState }) };
      const before = await issue(kind, more);
      const texts = [await mail(before.id, kind)];
      await events.send('account.registered.v1', {
        accountId,
        email: 'ada@example.org',
        emailVerified: false,
        name: 'Win 500',
      });
      const after = await issue(kind, more);
      texts.push(await mail(after.id, kind));
      for (const text of texts) {
        expect(text).toContain(`\r\n${greeting}\r\n`);
        expect(text).toMatch(greeting === 'Hello,' ? /^To: ada@example.org\r$/m : /^To: Ada <ada@example.org>\r$/m);
        expect(text).not.toContain('Win 500');
      }
    },
  );

  it('an e-mail with a token contains the link of the operator, escaped in HTML', async () => {
    const { id } = await issue('password-reset');
    const text = await mail(id, 'password-reset');
    expect(text).toContain(`https://shop.example/reset?a=1&b=2#token=${token}`);
    expect(text).toContain(`<a class="button" href="https://shop.example/reset?a=1&amp;b=2#token=${token}">`);
  });

  it.each(kinds)('an e-mail with a token of the kind %s leaves no plain token in database and log', async (kind) => {
    const { id, accountId } = await issue(kind);
    await mail(id, kind);
    expect((await rowOf(accountId))?.whole).not.toContain(token);
    expect(services.service('notifications').output()).not.toContain(token);
    const { rows } = await services.service('notifications').database.query('SELECT i::text AS whole FROM inbox i');
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('an e-mail with a token is not sent after its token has expired', async () => {
    const { id, accountId } = await issue('password-reset', { expiresAt: new Date(Date.now() - 1_000).toISOString() });
    await eventually(async () =>
      expect(await rowOf(accountId)).toMatchObject({ status: 'failed', problem: 'its token has expired' }),
    );
    expect((await readdir(services.mailFolder)).filter((name) => name.includes(id))).toEqual([]);
  });

  it('an e-mail with a token is not sent with a token that was sealed for another account', async () => {
    const [accountId, other] = [newId(), newId()];
    const email = 'ada@example.org';
    const sealedToken = seal.seal(token, { kind: 'password-reset', accountId: other, email });
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
    const data = { accountId, kind: 'password-reset', email, name: 'Ada', sealedToken, expiresAt } as const;
    await events.send('email-token.issued.v1', data);
    await eventually(async () => expect((await rowOf(accountId))?.problem).toEqual(expect.any(String)));
    expect(await rowOf(accountId)).toMatchObject({ status: 'waiting' });
  });
});

describe('a notice about changed credentials', () => {
  const change = { name: 'Ada', credentialsChanged: ['password'] as ['password'] };

  it('a notice about changed credentials goes to a verified address, and to that of an older event without the member', async () => {
    for (const verified of [{ emailVerified: true }, {}]) {
      const id = newId();
      const data = { accountId: newId(), email: `${id}@example.org`, ...change, ...verified };
      await events.send('account.updated.v1', data, { id });
      expect(await mail(id, 'password-changed')).toContain('The password of your account was changed');
    }
  });

  it('a notice about changed credentials does not go to an address that is not verified', async () => {
    const accountId = newId();
    const email = `${accountId}@example.org`;
    await events.send('account.updated.v1', { accountId, email, ...change, emailVerified: false }, { sequence: 2 });
    const moved = { credentialsChanged: ['email'] as ['email'], previousEmail: email, previousEmailVerified: false };
    const data = { accountId, name: 'Ada', email: 'new@example.org', emailVerified: true, ...moved };
    await events.send('account.updated.v1', data, { sequence: 3 });
    await eventually(async () => {
      const { rows } = await services
        .service('notifications')
        .database.query('SELECT email FROM recipients WHERE account_id = $1', [accountId]);
      expect(rows).toEqual([{ email: 'new@example.org' }]);
    });
    expect(await rowOf(accountId)).toBeUndefined();
  });
});
