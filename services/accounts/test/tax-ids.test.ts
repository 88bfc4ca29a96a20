// POST /v1/accounts/{accountId}/set-tax-id: the tax id that staff sets, and where it is shown.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { newId } from '@shop/shared/runtime';
import type { TestAnswer } from '@shop/shared/testing';
import { announceAccounts, grantScopes, setTaxIdAsOperator } from '../src/operator/index.ts';
import { auditOf, eventsOf, type Holder, register, startAccounts, type TestAccounts, versionOf } from './accounts.ts';

let accounts: TestAccounts;
let token: string;
const staffId = newId();
const reason = 'Confirmed by VIES';
const austrian = { country: 'AT', value: 'ATU12345678' };
const swiss = { country: 'CH', value: 'CHE-123.456.789 MWST' };

beforeAll(async () => {
  accounts = await startAccounts();
  token = await accounts.services.issuer.sign({ accountId: staffId, scopes: ['accounts:support'] });
});
afterAll(() => accounts.services.stop());

const send = ({ path }: Pick<Holder, 'path'>, body: unknown, headers: Record<string, string> = {}) =>
  accounts.client.post(`${path}/set-tax-id`, { token, body, headers });
const set = (holder: Holder, taxId: unknown) => send(holder, { tax_id: taxId, reason });
const view = ({ path, token: own }: Holder): Promise<TestAnswer> => accounts.client.get(path, { token: own });
const environment = () => ({ DATABASE_URL: accounts.services.database.urls.accounts });

async function found({ email }: Holder): Promise<unknown> {
  const { body } = await accounts.client.get(`/v1/accounts?email=${encodeURIComponent(email)}`, { token });
  return body.items[0]?.tax_id;
}

it('a tax id that staff sets is shown to the account and to staff, audited, sent in an event, and changes the entity tag', async () => {
  const holder = await register(accounts);
  const before = await view(holder);
  expect(before.body).not.toHaveProperty('tax_id');
  expect((await set(holder, austrian)).status).toBe(204);
  const after = await view(holder);
  expect([after.body.tax_id, versionOf(after)]).toEqual([austrian, versionOf(before) + 1]);
  expect(await found(holder)).toEqual(austrian);
  expect((await eventsOf(accounts, holder.id)).map(({ sequence, data }) => [Number(sequence), data.taxId])).toEqual([
    [1, null],
    [2, austrian],
  ]);
  const { body } = await accounts.client.get(`${holder.path}/audit?action=tax-id-set`, { token });
  expect(body.items).toEqual([
    expect.objectContaining({ by: 'staff', staff_id: staffId, reason, detail: { to: austrian } }),
  ]);
});

it('a tax id that staff changes or removes is replaced or gone everywhere, and the audit log has both values', async () => {
  const holder = await register(accounts);
  for (const taxId of [austrian, swiss, null]) expect((await set(holder, taxId)).status).toBe(204);
  expect((await view(holder)).body).not.toHaveProperty('tax_id');
  expect(await found(holder)).toBeUndefined();
  expect((await eventsOf(accounts, holder.id)).map(({ data }) => data.taxId)).toEqual([null, austrian, swiss, null]);
  expect(await auditOf(accounts, holder.id)).toEqual([
    { action: 'tax-id-set', detail: { to: austrian } },
    { action: 'tax-id-set', detail: { from: austrian, to: swiss } },
    { action: 'tax-id-removed', detail: { from: swiss } },
  ]);
});

it('a tax id that the account has already is audited again and changes nothing else', async () => {
  const holder = await register(accounts);
  // The members may come in any order.
  for (const taxId of [austrian, { value: austrian.value, country: 'AT' }])
    expect((await set(holder, taxId)).status).toBe(204);
  expect(versionOf(await view(holder))).toBe(2);
  expect(await eventsOf(accounts, holder.id)).toHaveLength(2);
  expect(await auditOf(accounts, holder.id)).toHaveLength(2);
});

it('a tax id stays when its account changes other members, and customers cannot write it', async () => {
  const holder = await register(accounts);
  await set(holder, austrian);
  const patch = (body: object) => accounts.client.patch(holder.path, { token: holder.token, body });
  const changed = await patch({ name: 'Kim Lee' });
  expect([changed.status, changed.body]).toEqual([200, expect.objectContaining({ name: 'Kim Lee', tax_id: austrian })]);
  for (const taxId of [swiss, null]) {
    const { status, body } = await patch({ tax_id: taxId });
    expect([status, body.errors]).toEqual([400, [expect.objectContaining({ pointer: '/tax_id' })]]);
  }
  expect((await send(holder, { tax_id: null, reason }, { Authorization: `Bearer ${holder.token}` })).status).toBe(403);
  expect((await view(holder)).body.tax_id).toEqual(austrian);
});

it('a repeated request with the same key sets a tax id once', async () => {
  const holder = await register(accounts);
  const headers = { 'Idempotency-Key': newId() };
  for (let time = 0; time < 2; time += 1)
    expect((await send(holder, { tax_id: austrian, reason }, headers)).status).toBe(204);
  expect(await auditOf(accounts, holder.id)).toHaveLength(1);
});

it('staff cannot set the tax id of an account of staff or of the own account, and of no account that does not exist', async () => {
  const holder = await register(accounts);
  await grantScopes(environment(), holder.email, ['orders:fulfil']);
  const own = { ...(await register(accounts)), id: staffId, path: `/v1/accounts/${staffId}` };
  const [ofStaff, unknown] = [await set(holder, austrian), await set(own, austrian)];
  expect([ofStaff.status, unknown.status]).toEqual([403, 404]);
  await setTaxIdAsOperator(environment(), holder.email, austrian, reason);
  expect((await view(holder)).body.tax_id).toEqual(austrian);
});

it.each(['ATU12345678', 'CHE-123.456.789 MWST', '51 824 753 556', 'GB 123 4567 89', 'IE1S2345+L', 'NL123456789B01'])(
  'the value %j of a tax id is accepted and shown as it was written',
  async (value) => {
    const holder = await register(accounts);
    expect((await set(holder, { country: 'IE', value })).status).toBe(204);
    expect((await view(holder)).body.tax_id).toEqual({ country: 'IE', value });
  },
);

it.each([
  ['a value with NUL', { ...austrian, value: 'ATU1\u00002' }, '/tax_id/value'],
  ['a value with a line break', { ...austrian, value: 'ATU1\n2' }, '/tax_id/value'],
  ['a value of blanks', { ...austrian, value: '   ' }, '/tax_id/value'],
  ['a value with blanks around it', { ...austrian, value: ' ATU12345678 ' }, '/tax_id/value'],
  ['a value of other letters', { ...austrian, value: 'АТU12345678' }, '/tax_id/value'],
  ['a value of 41 characters', { ...austrian, value: '1'.repeat(41) }, '/tax_id/value'],
  ['a value that is a number', { ...austrian, value: 12345678 }, '/tax_id/value'],
  ['no value', { country: 'AT' }, '/tax_id/value'],
  ['a country in small letters', { ...austrian, country: 'at' }, '/tax_id/country'],
  ['a country that does not exist', { ...austrian, country: 'EL' }, '/tax_id/country'],
  ['a country that is no text', { ...austrian, country: null }, '/tax_id/country'],
  ['a further member', { ...austrian, kind: 'vat' }, '/tax_id/kind'],
  ['a text', 'ATU12345678', '/tax_id'],
  ['a list', [austrian], '/tax_id'],
])('a tax id with %s is refused with a pointer', async (_, taxId, pointer) => {
  const holder = await register(accounts);
  const { status, body } = await set(holder, taxId);
  expect([status, body.errors.map((fault) => fault.pointer)]).toEqual([400, [pointer]]);
  expect(await auditOf(accounts, holder.id)).toEqual([]);
});

it('a tax id with a lone surrogate, one without a reason, and a body without a tax id are refused with every fault', async () => {
  const holder = await register(accounts);
  const pointers = async (body: unknown) => {
    const answer = await send(holder, body);
    return [answer.status, answer.body.errors.map(({ pointer }) => pointer)];
  };
  const raw = { tax_id: { country: 'AT', value: '\ud800' }, reason };
  expect(await pointers(raw)).toEqual([400, ['/tax_id/value']]);
  expect(await pointers({ tax_id: { country: 'XX', value: 'AT 1' } })).toEqual([400, ['/reason', '/tax_id/country']]);
  expect(await pointers({ reason })).toEqual([400, ['/tax_id']]);
});

it('the event of a change by an operator, and the announced state of an account, have the tax id', async () => {
  const holder = await register(accounts);
  const changed = await setTaxIdAsOperator(environment(), holder.id, swiss, reason);
  expect(changed).toMatchObject({ accountId: holder.id, taxId: swiss });
  await announceAccounts(environment());
  const events = await eventsOf(accounts, holder.id);
  expect(events.map(({ type, data }) => [type, data.taxId])).toEqual([
    ['account.registered.v1', null],
    ['account.updated.v1', swiss],
    ['account.updated.v1', swiss],
  ]);
  expect(await setTaxIdAsOperator(environment(), holder.id, null, reason)).toMatchObject({ taxId: null });
});

it.each([
  [{ country: 'XX', value: 'AT 1' }, 'the country must be a country code of ISO 3166-1 in capitals, such as CH'],
  [{ country: 'AT', value: '?' }, expect.stringMatching(/^the value must /)],
])('an operator cannot set the tax id %j', async (taxId, message) => {
  const holder = await register(accounts);
  await expect(setTaxIdAsOperator(environment(), holder.id, taxId, reason)).rejects.toMatchObject({ message });
});
