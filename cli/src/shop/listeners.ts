// The listeners of the shop that a command works on, over the administrator's access to its broker.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Listeners, openListeners } from '@shop/shared/events';
import { parseAddresses, StartError } from '@shop/shared/runtime';
import { eventsUrlOf } from './dead-letters.ts';
import { type OpenShop, withShop } from './open-shop.ts';

/** @throws StartError when the access of an administrator is missing, or the broker refuses */
export function withListeners<T>(use: (listeners: Listeners) => Promise<T>): Promise<T> {
  return withShop(async (shop) => {
    const url = eventsUrlOf(shop);
    const adminUrl = url.startsWith('amqp') ? managementUrl(shop) : await databaseUrl(shop, url);
    return use(await openListeners({ url, adminUrl }));
  });
}

function managementUrl({ settings }: OpenShop): string {
  if (settings.eventsAdminUrl !== undefined) return settings.eventsAdminUrl;
  throw new StartError(
    'set EVENTS_ADMIN_URL to the management interface of RabbitMQ with an administrator, such as ' +
      'http://admin:PASSWORD@rabbitmq:15672',
  );
}

/** Returns the database of the queues, with the login of its administrator: the one of DATABASE_URL, or of the embedded server. */
async function databaseUrl({ settings, folder }: OpenShop, eventsUrl: string): Promise<string> {
  const [address = ''] = parseAddresses(eventsUrl);
  const admin = new URL(address);
  admin.search = '';
  if (settings.databaseUrl !== undefined) {
    const { username, password } = new URL(settings.databaseUrl);
    return Object.assign(admin, { username, password }).href;
  }
  const password = await readFile(join(folder.postgres, 'password'), 'utf8').catch(() => undefined);
  if (password === undefined || settings.eventsUrl !== undefined) {
    throw new StartError(
      'a listener needs a role of the database: set DATABASE_URL to the connection of its administrator',
    );
  }
  return Object.assign(admin, { username: 'postgres', password: password.trim() }).href;
}
