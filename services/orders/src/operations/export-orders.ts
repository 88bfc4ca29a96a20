// POST /internal/accounts/{accountId}/export: one page of the orders of an account, for the export of its data.
import type { Operation, OrderStore } from '../context.ts';

const pageSize = 200;

/** Lists the orders, oldest first. Orders are never deleted, so the next page begins after the last order of a page. */
export const exportOrders: Operation<'exportOrders', OrderStore> = async ({ path, body }, { database, orders }) => {
  const { after } = body;
  const { exported } = orders;
  const { rows } = await database.pool.query<Record<string, string | null>>({
    name: after === undefined ? 'first-exported-orders' : 'next-exported-orders',
    text: `SELECT ${exported.columns} FROM orders WHERE account_id = $1
             ${after === undefined ? '' : `AND (created_at, id) > (${place})`}
           ORDER BY created_at, id LIMIT ${pageSize}`,
    values: after === undefined ? [path.accountId] : [path.accountId, after],
  });
  const next = rows.length < pageSize ? undefined : rows.at(-1)?.c0;
  const end = next === undefined ? '' : `,"next":${JSON.stringify(next)}`;
  return { status: 200, json: `{"items":[${rows.map(exported.write).join()}]${end}}` };
};

const place = 'SELECT last.created_at, last.id FROM orders AS last WHERE last.account_id = $1 AND last.id = $2';
