// Loaded into a service process before its own code (node --import): kills the process at a named point when the test
// arms it. It observes the statements that are sent to PostgreSQL, so the services need no code for it.
import pg from 'pg';

/** The points at which a process can die. A process dies at most once after it was armed. */
const crashPoints = [
  // The transaction of a request is open and empty.
  'after BEGIN',
  'before COMMIT',
  'after COMMIT before the answer',
  // The catalogue has reserved the stock, and orders has not written anything about the order.
  'between reservation and order',
  'after publish before mark',
  "after the handler's COMMIT before the ack",
  'after the e-mail before its mark',
] as const;
export type CrashPoint = (typeof crashPoints)[number];

/** The message that arms a process. */
export interface CrashOrder {
  readonly crashAt: CrashPoint;
  /** Limits the crash to a statement about this account. */
  readonly account?: string | undefined;
}

let armed: CrashOrder | undefined;
process.on('message', (message: unknown) => {
  if (typeof message === 'object' && message !== null && 'crashAt' in message) armed = message as CrashOrder;
});

/** The first statement of a request that writes: with an idempotency key, and for a reservation in the catalogue. */
const opensRequest = /claim_idempotency_key|INSERT INTO reservations \(id, account_id, settle_at\b/;
const takesEvent = /INSERT INTO inbox/;

/** Statement before which a process dies, by point. */
const diesBefore: Readonly<Partial<Record<CrashPoint, RegExp>>> = {
  'after BEGIN': opensRequest,
  'between reservation and order': /WITH claim AS/,
  'after publish before mark': /UPDATE outbox\s+SET published_at = clock_timestamp/,
  'after the e-mail before its mark': /UPDATE notifications SET\s+status = outcome/,
};

/** The kind of the open transaction of each connection. */
const transactions = new WeakMap<object, { request: boolean; handler: boolean }>();

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

type Query = (this: object, ...parameters: unknown[]) => unknown;
const prototype = pg.Client.prototype as unknown as { query: Query };
const query = prototype.query;

prototype.query = function (this: object, ...parameters: unknown[]): unknown {
  const [first] = parameters;
  const { text = '', values = [] } =
    typeof first === 'string' ? { text: first } : ((first ?? {}) as { text?: string; values?: readonly unknown[] });
  if (/^\s*(BEGIN|START TRANSACTION)/i.test(text)) transactions.set(this, { request: false, handler: false });
  const transaction = transactions.get(this);
  if (transaction !== undefined) {
    transaction.request ||= opensRequest.test(text);
    transaction.handler ||= takesEvent.test(text);
  }
  if (armed === undefined) return query.apply(this, parameters);

  const { crashAt, account } = armed;
  const meant = account === undefined || values.includes(account);
  if (meant && diesBefore[crashAt]?.test(text) === true) die();
  if (!/^\s*COMMIT/i.test(text)) return query.apply(this, parameters);

  if (crashAt === 'before COMMIT' && transaction?.request === true) die();
  const dieAfter =
    (crashAt === 'after COMMIT before the answer' && transaction?.request === true) ||
    (crashAt === "after the handler's COMMIT before the ack" && transaction?.handler === true);
  if (!dieAfter) return query.apply(this, parameters);
  const callback = parameters.at(-1);
  if (typeof callback === 'function') return query.apply(this, [...parameters.slice(0, -1), die]);
  const result = query.apply(this, parameters);
  if (result instanceof Promise) result.then(die, die);
  return result;
};
