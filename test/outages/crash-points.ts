// Loaded into a service process before its own code (node --import): kills the process at a named point when it is told to.
// It watches the statements on their way to PostgreSQL, so the services themselves know nothing of it.
import pg from 'pg';

/** Where a process can be made to die, each at most once after it was armed. */
export const crashPoints = [
  'after BEGIN',
  'before COMMIT',
  'after COMMIT before the answer',
  'between reservation and order',
  'after publish before mark',
  "after the handler's COMMIT before the ack",
] as const;
export type CrashPoint = (typeof crashPoints)[number];

/** What is sent to the process to arm it. */
export interface CrashOrder {
  readonly crashAt: CrashPoint;
}

let armed: CrashPoint | undefined;
process.on('message', (message: unknown) => {
  if (typeof message === 'object' && message !== null && 'crashAt' in message) armed = (message as CrashOrder).crashAt;
});

const wroteOrder = /INSERT INTO orders|UPDATE orders/i;
const marksOutbox = /UPDATE outbox\s+SET published_at/i;

/** What each connection has written since its BEGIN. */
const written = new WeakMap<object, { order: boolean; inbox: boolean }>();

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

type Query = (this: object, ...parameters: unknown[]) => unknown;
const prototype = pg.Client.prototype as unknown as { query: Query };
const query = prototype.query;

prototype.query = function (this: object, ...parameters: unknown[]): unknown {
  const [first] = parameters;
  const statement = typeof first === 'string' ? first : ((first as { text?: string } | null)?.text ?? '');
  const begins = /^\s*(BEGIN|START TRANSACTION)/i.test(statement);
  const commits = /^\s*COMMIT/i.test(statement);
  if (begins) written.set(this, { order: false, inbox: false });
  const wrote = written.get(this);
  if (wrote !== undefined) {
    wrote.order ||= wroteOrder.test(statement);
    wrote.inbox ||= /INSERT INTO inbox/i.test(statement);
  }

  if (armed === 'between reservation and order' && /INSERT INTO reservations/i.test(statement)) die();
  if (armed === 'after publish before mark' && marksOutbox.test(statement)) die();
  if (armed === 'before COMMIT' && commits && wrote?.order === true) die();

  const dieAfter =
    (armed === 'after BEGIN' && begins) ||
    (armed === 'after COMMIT before the answer' && commits && wrote?.order === true && !wrote.inbox) ||
    (armed === "after the handler's COMMIT before the ack" && commits && wrote?.inbox === true);
  if (!dieAfter) return query.apply(this, parameters);
  const callback = parameters.at(-1);
  if (typeof callback === 'function') return query.apply(this, [...parameters.slice(0, -1), die]);
  const result = query.apply(this, parameters);
  if (result instanceof Promise) result.then(die, die);
  return result;
};
