// What the schemas of orders, catalogue and notifications know of one order, by time. Each is read as its own role, which can reach
// nothing else. Works on a stopped shop; the gateway's board asks the running orders and catalogue instead.

import { withClient } from '@shop/shared/database';
import { readEvents, type SentEvent, type TakenEvent } from '@shop/shared/events';
import type { ServiceName } from '@shop/shared/runtime';
import { connectWithin, type DatabaseUrls } from './database.ts';

interface StepOf<Kind extends string> {
  readonly kind: Kind;
  readonly at: Date;
  readonly service: ServiceName;
  /** Of the request at the beginning of the chain; null where the schema does not keep it. */
  readonly requestId: string | null;
}

/** An event that the service sent or took. */
export type EventStep = (SentEvent | TakenEvent) & { readonly service: ServiceName };

export interface ReservationStep extends StepOf<'reservation'> {
  readonly reservationId: string;
  readonly state: 'held' | 'confirmed' | 'released' | 'shipped';
}

export interface MovementStep extends StepOf<'movement'> {
  /** As in the book of the stock. */
  readonly movement: number;
  readonly movementKind: 'received' | 'reserved' | 'released' | 'shipped';
  readonly quantity: number;
  readonly productId: string;
  readonly name: string;
  readonly stockAfter: number;
  readonly promisedAfter: number;
}

export interface TransitionStep extends StepOf<'transition'> {
  readonly status: string;
  readonly version: number;
  readonly actor: string;
  readonly actorId: string;
}

export interface EmailStep extends StepOf<'e-mail'> {
  readonly emailKind: string;
  readonly status: 'waiting' | 'sent' | 'failed' | 'obsolete';
  readonly writtenAt: Date;
  readonly attempts: number;
  readonly problem: string | null;
}

export type Step = ReservationStep | MovementStep | TransitionStep | EventStep | EmailStep;

export interface Timeline {
  readonly orderId: string;
  readonly accountId: string;
  readonly reservationId: string;
  readonly status: string;
  readonly steps: readonly Step[];
}

const transitions = `
  SELECT 'transition' AS kind, at, request_id AS "requestId", status, version::int AS version, actor, actor_id AS "actorId"
  FROM order_history WHERE order_id = $1`;

const emails = `
  SELECT 'e-mail' AS kind, coalesce(settled_at, created_at) AS at, request_id AS "requestId", kind AS "emailKind", status,
    created_at AS "writtenAt", attempts, problem
  FROM notifications WHERE order_id = $1`;

// The row keeps its latest state only; that it was held at first is known all the same.
const reservations = `
  SELECT 'reservation' AS kind, created_at AS at, NULL AS "requestId", id AS "reservationId", 'held' AS state
  FROM reservations WHERE id = $1
  UNION ALL
  SELECT 'reservation', changed_at, NULL, id, state FROM reservations WHERE id = $1 AND state <> 'held'`;

const movements = `
  SELECT 'movement' AS kind, movement.created_at AS at, NULL AS "requestId", movement.id::float8 AS movement,
    movement.kind AS "movementKind", quantity, product_id AS "productId", name,
    stock_after AS "stockAfter", promised_after AS "promisedAfter"
  FROM stock_ledger AS movement JOIN products ON products.id = product_id
  WHERE reservation_id = $1`;

/** What happens in one transaction has one time: then what caused the others comes first. */
const ranks: Readonly<Record<Step['kind'], number>> = {
  delivery: 0,
  reservation: 1,
  movement: 2,
  transition: 3,
  'e-mail': 4,
  event: 5,
};

const connection = { name: 'trace', connectWithin };

/** Undefined when there is no such order. */
export async function readTimeline(databases: DatabaseUrls, orderId: string): Promise<Timeline | undefined> {
  const [order] = await withClient({ url: databases.orders, ...connection }, async (client) => {
    const { rows } = await client.query<Omit<Timeline, 'steps'>>(
      `SELECT id AS "orderId", account_id AS "accountId", reservation_id AS "reservationId", status
       FROM orders WHERE id = $1`,
      [orderId],
    );
    return rows;
  });
  if (order === undefined) return undefined;
  const read = (service: ServiceName, ...queries: readonly (readonly [string, string])[]): Promise<Step[]> =>
    withClient({ url: databases[service], ...connection }, async (client) => {
      const events = await readEvents(client, orderId);
      const steps: Step[] = events.map((event) => ({ ...event, service }));
      for (const [text, id] of queries) {
        const { rows } = await client.query<Step>(text, [id]);
        steps.push(...rows.map((row) => ({ ...row, service })));
      }
      return steps;
    });
  const { reservationId } = order;
  const steps = await Promise.all([
    read('orders', [transitions, orderId]),
    read('catalogue', [reservations, reservationId], [movements, reservationId]),
    read('notifications', [emails, orderId]),
  ]);
  return { ...order, steps: steps.flat().sort((a, b) => Number(a.at) - Number(b.at) || ranks[a.kind] - ranks[b.kind]) };
}
