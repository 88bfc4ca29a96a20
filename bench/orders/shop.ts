// The shop under test: what `npm start` runs, in a folder of its own, with products that do not sell out and customers.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyEmailAsOperator } from '@shop/accounts/operator';
import { eventually } from '@shop/shared/testing';
import pg from 'pg';
import { undoAtSignal } from '../../cli/src/shop/clean-up.ts';
import { launchShop, runningShop, runShop } from '../../cli/test/started-shop.ts';
import { configForRegistrations } from '../../test/gateway-config.ts';

export interface BenchShop {
  readonly gateway: string;
  readonly products: readonly string[];
  /** Tokens, one for each customer. */
  readonly customers: readonly string[];
  /** A connection of the catalogue's role. */
  readonly catalogue: pg.Client;
  /** A connection of the role of changes. */
  readonly changes: pg.Client;
  /** The address of each process and of its metrics. */
  readonly processes: Readonly<Record<string, string>>;
  readonly metrics: Readonly<Record<string, string>>;
  post(path: string, token: string, body?: object): Promise<Record<string, string>>;
  /** Grants scopes to the first customer. @returns a token with them */
  grant(...scopes: string[]): Promise<string>;
  /** Resolves when every event was handled and every e-mail sent. */
  quiet(): Promise<void>;
  stop(): Promise<void>;
}

const stock = 10_000_000;
/** A few customers receive as many e-mails as many customers would. */
const limits = { EMAILS_PER_HOUR: '1000000' };
const quietWithin = 300_000;

// The ledger is kept as for any other delivery, so that the stock can be verified afterwards.
const fill = `
  WITH filled AS (
    UPDATE products SET stock = ${stock} FROM (SELECT id, stock FROM products) AS before
    WHERE products.id = before.id AND products.status = 'available'
    RETURNING products.id, before.stock AS before
  ), book AS (
    INSERT INTO stock_ledger (product_id, kind, quantity, stock_after, promised_after)
    SELECT id, 'received', ${stock} - before, ${stock}, 0 FROM filled
  )
  SELECT id FROM filled`;

const waiting = {
  orders: 'SELECT count(*)::int AS left FROM outbox WHERE published_at IS NULL',
  catalogue: `SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)::int +
    (SELECT count(*) FROM reservations WHERE state = 'held')::int AS left`,
  notifications: `SELECT (SELECT count(*) FROM outbox WHERE published_at IS NULL)::int +
    (SELECT count(*) FROM notifications WHERE status = 'waiting')::int AS left`,
} as const;
type Waiting = keyof typeof waiting;

/**
 * Starts the shop and waits until it is ready.
 * @param eventsUrl the broker; undefined for the embedded one
 * @param settings further variables of the environment
 */
export async function openShop(
  eventsUrl: string | undefined,
  customers: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<BenchShop> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const dataDir = join(folder, 'data');
  const clients: pg.Client[] = [];
  const GATEWAY_CONFIG_DIR = await configForRegistrations(join(folder, 'config'));
  const launching = launchShop({
    dataDir,
    environment: {
      ...limits,
      GATEWAY_CONFIG_DIR,
      ...settings,
      ...(eventsUrl === undefined ? {} : { EVENTS_URL: eventsUrl }),
    },
  });
  const stop = undoAtSignal(async () => {
    await Promise.all(clients.map((client) => client.end()));
    await (await launching).end();
    await rm(folder, { recursive: true, force: true });
  });
  try {
    const shop = await launching;
    await shop.ready;
    const { databases, processes, metrics } = await runningShop(dataDir);
    const connect = async (name: Waiting | 'changes'): Promise<pg.Client> => {
      const client = await connectTo(databases[name]);
      clients.push(client);
      return client;
    };
    const reading = {
      orders: await connect('orders'),
      catalogue: await connect('catalogue'),
      notifications: await connect('notifications'),
    };
    const { rows } = await reading.catalogue.query<{ id: string }>(fill);
    await reading.catalogue.query('VACUUM (ANALYZE) products');
    const post = postTo(shop.gateway);
    const tokens = await registerCustomers(post, customers, databases.accounts);
    return {
      gateway: shop.gateway,
      products: rows.map(({ id }) => id),
      customers: tokens,
      catalogue: await connect('catalogue'),
      changes: await connect('changes'),
      processes,
      metrics,
      post,
      async grant(...scopes) {
        const { code, complaints } = await runShop(dataDir, 'staff', 'grant', credentials(0).email, ...scopes);
        if (code !== 0) throw new Error(complaints);
        return (await post('/v1/tokens', '', credentials(0))).access_token ?? '';
      },
      quiet: () => eventually(() => requireQuiet(reading), quietWithin),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function connectTo(connectionString: string | undefined): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {}); // the query in work fails with it
  await client.connect();
  return client;
}

function postTo(gateway: string): BenchShop['post'] {
  return async (path, token, body) => {
    const answer = await fetch(`${gateway}${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, string>;
  };
}

function credentials(index: number): { email: string; password: string } {
  return { email: `customer-${index}@shop.example`, password: 'only for the benchmark' };
}

/** Registers accounts whose addresses are verified, so that e-mails about orders are sent. @returns a token of each */
async function registerCustomers(post: BenchShop['post'], customers: number, databaseUrl = ''): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < customers; index += 1) {
    await post('/v1/accounts', '', { name: 'Customer', ...credentials(index) });
    await verifyEmailAsOperator({ DATABASE_URL: databaseUrl }, credentials(index).email);
    tokens.push((await post('/v1/tokens', '', credentials(index))).access_token ?? '');
  }
  return tokens;
}

async function requireQuiet(reading: Readonly<Record<Waiting, pg.Client>>): Promise<void> {
  for (const [name, text] of Object.entries(waiting)) {
    const { rows } = await reading[name as Waiting].query<{ left: number }>(text);
    if (rows[0]?.left !== 0) throw new Error(`${name} has ${rows[0]?.left} left to do`);
  }
}
