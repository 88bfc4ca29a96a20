// The commands with which operators help the holders of accounts, on a running shop.
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually } from '@shop/shared/testing';
import { askShop, launchShop, runShop, type StartedShop } from './started-shop.ts';

const ada = { email: 'ada@shop.example', password: 'under the old oak' };
let folder: string;
let dataDir: string;
let shop: StartedShop;
let accountId: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-support-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  shop = await launchShop({ dataDir });
  await shop.ready;
  const { body } = await post('/v1/accounts', { name: 'Ada Lovelace', ...ada });
  accountId = body.id ?? '';
});

afterAll(async () => {
  await shop?.end();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  readonly status: number;
  readonly body: { readonly id?: string; readonly code?: string; readonly refresh_token?: string };
}

async function post(path: string, body: object): Promise<Answer> {
  const answer = await fetch(`${shop.gateway}${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Answer['body'] };
}

const logIn = () => post('/v1/tokens', ada);
const run = (...parameters: string[]) => runShop(dataDir, ...parameters);
const ask = <T>(...parameters: string[]): Promise<T> => askShop<T>(dataDir, ...parameters);

it('the command accounts finds accounts and shows one, by id or e-mail address', async () => {
  for (const text of ['ada@', 'ADA LOVE']) {
    expect((await run('accounts', 'find', text)).output).toMatch(
      new RegExp(
        '^EMAIL +NAME +STATE +SCOPES +REGISTERED +ACCOUNT\n' +
          `${ada.email}  Ada Lovelace  unverified +\\S+Z  ${accountId}\n$`,
      ),
    );
  }
  expect((await run('accounts', 'find', 'bob')).output).toBe('No account begins like this.\n');
  for (const account of [accountId, ` ${ada.email.toUpperCase()}`]) {
    expect(await ask('accounts', 'show', account)).toMatchObject({ accountId, email: ada.email, scopes: [] });
  }
  expect((await run('accounts', 'show', accountId)).output).toMatch(
    /^account +\S+\ne-mail +ada@shop\.example \(not verified\)\nname +Ada Lovelace\nregistered +\S+Z\n$/,
  );
});

it('the command accounts lists and ends the sessions of an account', async () => {
  const { refresh_token } = (await logIn()).body;
  const listed = await ask<{ sessionId: string; address: string }[]>('accounts', 'sessions', ada.email);
  expect(listed).toEqual([expect.objectContaining({ sessionId: expect.any(String), address: expect.any(String) })]);
  expect((await run('accounts', 'sessions', ada.email)).output).toMatch(
    /^SESSION +LOGGED IN +LAST USED +ADDRESS +USER AGENT\n/,
  );
  expect((await run('accounts', 'end-sessions', ada.email, '--reason', 'Lost phone')).output).toBe(
    `${ada.email} has to log in again (sessions that ended: 1)\n`,
  );
  const again = await ask('accounts', 'end-sessions', ada.email, '--reason', 'Lost phone');
  expect(again).toMatchObject({ email: ada.email, sessions: 0 });
  expect((await post('/v1/tokens', { refresh_token })).status).toBe(401);
  expect((await run('accounts', 'sessions', ada.email)).output).toBe('The account has no session.\n');
});

it('the command accounts blocks and unblocks an account, also one of staff', async () => {
  await ask('staff', 'grant', ada.email, 'accounts:support');
  expect((await run('accounts', 'block', accountId, '--reason', 'Stolen password')).output).toBe(
    `${ada.email} is blocked\n`,
  );
  const refused = await logIn();
  expect([refused.status, refused.body.code]).toEqual([403, 'account-blocked']);
  expect((await run('accounts', 'show', accountId)).output).toMatch(/^blocked since +\S+Z$/m);
  expect((await run('accounts', 'unblock', accountId, '--reason', 'New password')).output).toBe(
    `${ada.email} can log in\n`,
  );
  expect((await logIn()).status).toBe(200);
});

it('the command accounts sets, shows and removes the tax id of an account, and refuses one that is not valid', async () => {
  const setTaxId = (...taxId: string[]) => run('accounts', 'set-tax-id', ada.email, ...taxId, '--reason', 'In VIES');
  expect((await setTaxId('AT', 'ATU12345678')).output).toBe(`${ada.email} has the tax id ATU12345678 of AT\n`);
  expect((await run('accounts', 'show', accountId)).output).toMatch(/^tax id +ATU12345678 of AT$/m);
  expect(await setTaxId('Austria', 'ATU12345678')).toEqual({
    code: 1,
    output: '',
    complaints: 'the country must be a country code of ISO 3166-1 in capitals, such as CH\n',
  });
  const removed = await ask('accounts', 'remove-tax-id', ada.email, '--reason', 'No longer in VIES');
  expect(removed).toMatchObject({ email: ada.email, taxId: null });
});

it('the command accounts sends an e-mail to set a new password, up to 5 an hour', async () => {
  for (let index = 0; index < 5; index += 1) {
    expect(await run('accounts', 'reset', ada.email, '--reason', 'Asked')).toMatchObject({
      code: 0,
      output: `an e-mail to set a new password is sent to ${ada.email}\n`,
    });
  }
  expect(await run('accounts', 'reset', ada.email, '--reason', 'Asked')).toEqual({
    code: 1,
    output: '',
    complaints: expect.stringMatching(/^At most 5 e-mails to set a password an hour; wait \d+ s\.\n$/),
  });
  await eventually(async () => {
    const mails = await readdir(join(dataDir, 'mail'));
    expect(mails.filter((name) => name.includes('password-reset')).length).toBeGreaterThan(0);
  }, 40_000);
});

it('the command accounts lists the actions on one account and on all accounts, with the reasons', async () => {
  const entries = await ask<{ action: string; by: string; reason: string }[]>('accounts', 'audit', accountId);
  expect(entries.filter(({ by }) => by === 'operator').map(({ action, reason }) => [action, reason])).toEqual([
    ...Array.from({ length: 5 }, () => ['password-reset-sent', 'Asked']),
    ['tax-id-removed', 'No longer in VIES'],
    ['tax-id-set', 'In VIES'],
    ['account-unblocked', 'New password'],
    ['account-blocked', 'Stolen password'],
    ['scopes-changed', null],
    ['sessions-ended', 'Lost phone'],
    ['sessions-ended', 'Lost phone'],
  ]);
  const audit = async (...options: string[]) => (await ask<{ action: string }[]>('audit', ...options)).length;
  expect(await audit('--limit', '3')).toBe(3);
  expect(await audit('--action', 'account-blocked')).toBe(1);
  expect(await audit('--account', ada.email)).toBe(entries.length);
  expect(await audit('--account', 'bob@shop.example')).toBe(0);
  expect(await audit('--since', '2099-01-01')).toBe(0);
  expect((await run('audit', '--action', 'sessions-ended')).output).toMatch(
    new RegExp(
      '^TIME +ACTION +ACCOUNT +BY +REASON +DETAIL\n' +
        `\\S+Z  sessions-ended  ${ada.email}  operator  Lost phone  sessions=0\n` +
        `\\S+Z  sessions-ended  ${ada.email}  operator  Lost phone  sessions=1\n$`,
    ),
  );
  expect((await run('audit', '--action', 'none')).output).toBe('The audit log has no such entry.\n');
});

it('the command accounts rejects an unknown account, and a change without a reason', async () => {
  const unknown = {
    code: 1,
    output: '',
    complaints: 'there is no account bob@shop.example: npm run shop -- accounts find TEXT finds accounts\n',
  };
  for (const command of [['show'], ['sessions'], ['block', '--reason', 'x'], ['reset', '--reason', 'x']]) {
    const [verb = '', ...options] = command;
    expect(await run('accounts', verb, 'bob@shop.example', ...options)).toEqual(unknown);
  }
  for (const verb of ['block', 'unblock', 'end-sessions', 'reset']) {
    const { code, complaints } = await run('accounts', verb, ada.email);
    expect([code, complaints]).toEqual([2, expect.stringContaining("required option '--reason <text>' not specified")]);
  }
});

it('the command machines shows the secret once, rotates it with overlap, and revokes it', async () => {
  const created = await ask<{ clientId: string; clientSecret: string }>(
    'machines',
    'create',
    'adapter',
    '--scope',
    'payments:write',
  );
  const obtain = async ({ clientId, clientSecret }: typeof created) =>
    (await post('/v1/tokens', { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret }))
      .status;
  expect(await obtain(created)).toBe(200);
  const rotated = (await run('machines', 'rotate', 'adapter')).output;
  const [, clientSecret = ''] = /^client_secret +(\S{43})$/m.exec(rotated) ?? [];
  expect([await obtain(created), await obtain({ ...created, clientSecret })]).toEqual([200, 200]);
  const { output } = await run('machines', 'list');
  expect(output).toMatch(/^NAME +SCOPES +CLIENT ID +CREATED +LAST USED +FORMER SECRET UNTIL +REVOKED\n/);
  expect(output).toMatch(new RegExp(`^adapter +payments:write +${created.clientId} +\\S+Z +\\S+Z +\\S+Z$`, 'm'));
  expect(output).not.toContain(clientSecret);
  const last = await ask<typeof created>('machines', 'rotate', 'adapter', '--now');
  expect([await obtain(created), await obtain({ ...created, clientSecret }), await obtain(last)]).toEqual([
    401, 401, 200,
  ]);
  expect((await run('machines', 'revoke', 'adapter')).output).toBe('adapter is revoked\n');
  expect(await obtain(last)).toBe(401);
  expect(await run('machines', 'revoke', 'adapter')).toEqual({
    code: 1,
    output: '',
    complaints: 'there is no machine adapter: npm run shop -- machines list shows those that are there\n',
  });
  const wrong = [['Adapter', '--scope', 'payments:write'], ['adapter'], ['adapter', '--scope', 'everything']];
  for (const parameters of wrong) expect((await run('machines', 'create', ...parameters)).code).toBe(2);
});
