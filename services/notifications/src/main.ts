// Starts notifications: wiring in start order, and nothing else.
import { fileURLToPath } from 'node:url';
import { connectDatabase, pendingMigrations } from '@shop/shared/database';
import { startEvents } from '@shop/shared/events';
import { createApp, loadContract, serve } from '@shop/shared/http';
import { createHealth, runProcess, StartError } from '@shop/shared/runtime';
import { readNotificationsConfig } from './config.ts';
import { folderMailer, smtpMailer } from './mailer.ts';
import { onAccountRegistered } from './on-account-registered.ts';
import { onAccountUpdated } from './on-account-updated.ts';
import { onOrderCancelled } from './on-order-cancelled.ts';
import { onOrderCreated } from './on-order-created.ts';
import { onOrderShipped } from './on-order-shipped.ts';
import { startSendLoop } from './send-loop.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const sendersAtOnce = 4;

await runProcess('notifications', async (life) => {
  const { log } = life;
  const config = readNotificationsConfig(process.env);
  const health = createHealth();

  const database = connectDatabase({ url: config.databaseUrl, name: 'notifications', log, poolSize: 16 });
  life.onStop('database', () => database.close());
  health.add('database', () => database.ping());
  const pending = await pendingMigrations(database.pool, `${folder}/migrations`);
  if (pending.length > 0)
    throw new StartError(`migrations are missing: ${pending.join(', ')}; run src/migrate.ts first`);

  const { smtpUrl } = config;
  const mailer = smtpUrl === undefined ? await folderMailer(config.mailDir) : smtpMailer(smtpUrl, sendersAtOnce);
  life.onStop('mailer', () => mailer.close());
  const sender = { shopName: config.shopName, address: config.mailFrom };
  const sending = startSendLoop({ database, mailer, sender, log, workers: sendersAtOnce });
  life.onStop('sending', () => sending.close());

  const { wake } = sending;
  const events = await startEvents({
    service: 'notifications',
    url: config.eventsUrl,
    databaseUrl: config.databaseUrl,
    database,
    log,
    consume: {
      name: 'notifications.mail',
      handlers: {
        'account.registered.v1': (event, tx) => onAccountRegistered(event, tx, wake),
        'account.updated.v1': (event, tx) => onAccountUpdated(event, tx, wake),
        'order.created.v1': (event, tx) => onOrderCreated(event, tx, wake),
        'order.shipped.v1': (event, tx) => onOrderShipped(event, tx, wake),
        'order.cancelled.v1': (event, tx) => onOrderCancelled(event, tx, wake),
      },
    },
  });
  life.onStop('events', () => events.close());
  health.add('events', () => events.ping());

  const contract = loadContract(`${folder}/openapi.yaml`);
  const app = createApp({ name: 'notifications', contract, operations: {}, context: {}, health, log });
  await serve(app, { host: config.host, port: config.port, health, life });
});
