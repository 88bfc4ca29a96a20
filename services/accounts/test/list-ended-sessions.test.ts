// GET /internal/ended-sessions: which sessions are listed, for how long, and that none is missed.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectDatabase, type Database, prune } from '@shop/shared/database';
import { createLog, newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import { decodeJwt } from 'jose';
import { expiredAccountRows } from '../src/jobs/prune.ts';
import { type Holder, logIn, refresh, register, startAccounts, type TestAccounts } from './accounts.ts';

let accounts: TestAccounts;
let holder: Holder;
let database: Database;

beforeAll(async () => {
  accounts = await startAccounts();
  holder = await register(accounts);
  const url = accounts.services.database.urls.accounts;
  database = connectDatabase({ url, name: 'test', log: createLog('test', 'silent') });
});
beforeEach(() => accounts.database.query('DELETE FROM ended_sessions'));
afterAll(async () => {
  await database.close();
  await accounts.services.stop();
});

async function read(since?: string): Promise<{ sessionIds: string[]; next: string }> {
  const query = since === undefined ? '' : `?since=${since}`;
  const { status, body } = await accounts.client.get(`/internal/ended-sessions${query}`);
  expect(status).toBe(200);
  return { sessionIds: body.sessionIds as string[], next: String(body.next) };
}

/** A new session: its id and its refresh token. */
async function begin(): Promise<{ id: string; refreshToken: string }> {
  const { body } = await logIn(accounts, holder.email);
  return { id: String(decodeJwt(body.access_token).sid), refreshToken: body.refresh_token };
}

const logOut = (refreshToken: string) =>
  accounts.client.post('/v1/tokens/revoke', { body: { refresh_token: refreshToken } });
const makeOlder = (minutes: number, id: string) =>
  accounts.database.query(
    `UPDATE refresh_families SET created_at = created_at - $1 * interval '1 minute',
       last_used_at = last_used_at - $1 * interval '1 minute' WHERE id = $2`,
    [minutes, id],
  );

describe('200', () => {
  it('GET /internal/ended-sessions lists a session that ended, and not the others', async () => {
    const [ended, alive] = [await begin(), await begin()];
    await logOut(ended.refreshToken);
    expect(await accounts.client.get('/internal/ended-sessions')).toMatchObject({
      body: { sessionIds: [ended.id], next: expect.stringMatching(/^\d+$/), keepSeconds: 1_200 },
    });
    expect((await refresh(accounts, alive.refreshToken)).status).toBe(200);
  });

  it('GET /internal/ended-sessions continues after the previous response, and lists the oldest session first', async () => {
    const sessions = [await begin(), await begin(), await begin()];
    for (const { refreshToken } of sessions) await logOut(refreshToken);
    expect((await read()).sessionIds).toEqual(sessions.map(({ id }) => id));
    // A cursor waits for every transaction in progress, also for those of other tests.
    const next = await eventually(async () => {
      const answer = await read();
      expect((await read(answer.next)).sessionIds).toEqual([]);
      return answer.next;
    });
    const last = await begin();
    await logOut(last.refreshToken);
    expect((await read(next)).sessionIds).toEqual([last.id]);
  });

  it('GET /internal/ended-sessions also returns a session whose end is committed after that of a later one', async () => {
    const [early, late] = [await begin(), await begin()];
    const connection = await accounts.database.connect();
    try {
      await connection.query('BEGIN');
      await connection.query('INSERT INTO ended_sessions (session_id) VALUES ($1)', [early.id]);
      await logOut(late.refreshToken);
      const { sessionIds, next } = await read();
      expect(sessionIds).toEqual([late.id]);
      await connection.query('COMMIT');
      expect((await read(next)).sessionIds).toContain(early.id);
    } finally {
      connection.release();
    }
  });

  it('GET /internal/ended-sessions lists everything for a cursor of the future, which a restored database gets', async () => {
    const session = await begin();
    await logOut(session.refreshToken);
    expect((await read('9999999999999999999')).sessionIds).toEqual([session.id]);
  });

  it('GET /internal/ended-sessions lists everything for a cursor of another timeline, which a server gets after a failover', async () => {
    const session = await begin();
    await logOut(session.refreshToken);
    const { next } = await read();
    // The transaction is one that this server has, too.
    const [former, released] = [BigInt(next) + (1n << 48n), BigInt.asUintN(48, BigInt(next))];
    for (const since of [former, released]) expect((await read(String(since))).sessionIds).toEqual([session.id]);
    await eventually(async () => expect((await read((await read()).next)).sessionIds).toEqual([]));
  });

  it('GET /internal/ended-sessions lists no session that ended 20 minutes ago, before and after its row is deleted', async () => {
    const [old, young] = [newId(), newId()];
    await accounts.database.query(
      `INSERT INTO ended_sessions (session_id, ended_at)
       VALUES ($1, now() - interval '20 minutes 1 second'), ($2, now() - interval '19 minutes')`,
      [old, young],
    );
    expect((await read()).sessionIds).toEqual([young]);
    for (const expiry of expiredAccountRows(30)) await prune(database.pool, expiry);
    const { rows } = await accounts.database.query('SELECT session_id FROM ended_sessions');
    expect(rows).toEqual([{ session_id: young }]);
  });

  it('GET /internal/ended-sessions lists no session whose last access token has expired when it ends', async () => {
    const [idle, renewed] = [await begin(), await begin()];
    await makeOlder(21, idle.id);
    await makeOlder(60, renewed.id);
    const { refresh_token: successor } = (await refresh(accounts, renewed.refreshToken)).body;
    await logOut(idle.refreshToken);
    await logOut(successor);
    expect((await read()).sessionIds).toEqual([renewed.id]);
  });

  it('GET /internal/ended-sessions counts a repeated renewal as a use', async () => {
    const session = await begin();
    await refresh(accounts, session.refreshToken);
    await accounts.database.query('UPDATE refresh_families SET last_used_at = NULL');
    await makeOlder(60, session.id);
    expect((await refresh(accounts, session.refreshToken)).status).toBe(200);
    await logOut(session.refreshToken);
    expect((await read()).sessionIds).toEqual([session.id]);
  });
});

describe('400', () => {
  it.each(['', '-1', 'a', '1e3', '99999999999999999999'])(
    'GET /internal/ended-sessions returns 400 for since=%s',
    async (since) => {
      const { status, body } = await accounts.client.get(`/internal/ended-sessions?since=${since}`);
      expect([status, body.errors?.[0]?.parameter]).toEqual([400, 'since']);
    },
  );
});
