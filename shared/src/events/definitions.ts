// The closed table of the shop's events: what each type carries, as a TypeScript type and as the JSON schema behind it.

export interface AccountDetails {
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
}

export interface AccountUpdated extends AccountDetails {
  /** Which of the holder's credentials the change replaced; absent when it replaced none. */
  readonly credentialsChanged?: readonly ('email' | 'password')[];
  /** The address before the change; present when `credentialsChanged` has `email`. */
  readonly previousEmail?: string;
}

export interface OrderedItem {
  readonly productId: string;
  readonly name: string;
  readonly quantity: number;
  /** Price of one, in major units of the order's currency. */
  readonly unitPrice: number;
  /** `unitPrice` × `quantity`, in major units. */
  readonly lineTotal: number;
}

export interface OrderReference {
  readonly orderId: string;
  readonly accountId: string;
  readonly reservationId: string;
}

export interface OrderCreated extends OrderReference {
  readonly items: readonly OrderedItem[];
  /** In major units. */
  readonly totalCost: number;
  /** ISO 4217. */
  readonly currency: string;
}

export interface OrderCancelled extends OrderReference {
  readonly items: readonly { readonly productId: string; readonly name: string; readonly quantity: number }[];
  /** What the customer gave as the reason, if anything. */
  readonly reason: string | null;
  readonly cancelledAt: string;
}

export interface StockReleased extends OrderReference {
  readonly outcome: 'done' | 'failed';
  readonly releasedAt: string;
}

export interface NotificationSent {
  readonly orderId: string;
  readonly accountId: string;
  readonly kind: 'order-received' | 'order-shipped' | 'order-cancelled';
  readonly outcome: 'done' | 'failed';
  readonly sentAt: string;
}

/** Event type → what its `data` holds. A changed meaning gets a new version, never a changed v1. */
export interface EventPayloads {
  'account.registered.v1': AccountDetails;
  'account.updated.v1': AccountUpdated;
  'order.created.v1': OrderCreated;
  'order.processing.v1': OrderReference;
  'order.shipped.v1': OrderReference;
  'order.delivered.v1': OrderReference;
  'order.cancelled.v1': OrderCancelled;
  'stock.released.v1': StockReleased;
  'notification.sent.v1': NotificationSent;
}

export type EventType = keyof EventPayloads;

type Schema = Readonly<Record<string, unknown>>;

const id: Schema = { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' };
const time: Schema = { type: 'string', format: 'date-time' };
const text: Schema = { type: 'string' };
const quantity: Schema = { type: 'integer', minimum: 1 };
const money: Schema = { type: 'number', minimum: 0 };

/** Members that a later producer adds are let through, so that v1 can grow. */
function object(required: Readonly<Record<string, Schema>>, optional: Readonly<Record<string, Schema>> = {}): Schema {
  return { type: 'object', properties: { ...required, ...optional }, required: Object.keys(required) };
}

const account = { accountId: id, email: text, name: text };
const order = { orderId: id, accountId: id, reservationId: id };
const outcome: Schema = { enum: ['done', 'failed'] };

/** Event type → JSON schema of its `data`. */
export const payloadSchemas: Readonly<Record<EventType, Schema>> = {
  'account.registered.v1': object(account),
  'account.updated.v1': object(account, {
    credentialsChanged: { type: 'array', items: { enum: ['email', 'password'] }, minItems: 1, uniqueItems: true },
    previousEmail: text,
  }),
  'order.created.v1': object({
    ...order,
    items: {
      type: 'array',
      minItems: 1,
      items: object({ productId: id, name: text, quantity, unitPrice: money, lineTotal: money }),
    },
    totalCost: money,
    currency: { type: 'string', pattern: '^[A-Z]{3}$' },
  }),
  'order.processing.v1': object(order),
  'order.shipped.v1': object(order),
  'order.delivered.v1': object(order),
  'order.cancelled.v1': object({
    ...order,
    items: { type: 'array', minItems: 1, items: object({ productId: id, name: text, quantity }) },
    reason: { type: ['string', 'null'] },
    cancelledAt: time,
  }),
  'stock.released.v1': object({ ...order, outcome, releasedAt: time }),
  'notification.sent.v1': object({
    orderId: id,
    accountId: id,
    kind: { enum: ['order-received', 'order-shipped', 'order-cancelled'] },
    outcome,
    sentAt: time,
  }),
};
