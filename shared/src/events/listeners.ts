// Listeners: programs of others that consume events of the shop, each with a queue and a user of its own.
import { randomBytes } from 'node:crypto';
import { StartError } from '../runtime/index.ts';
import { splitParameters } from './connect-transport.ts';
import { senders } from './generated.ts';
import type { Listener, ListenerAccess } from './listener.ts';

export type { Listener } from './listener.ts';

/** The types of all events. */
export const eventTypes: readonly string[] = Object.values(senders).flat().sort();

export interface AddedListener extends ListenerAccess {
  readonly name: string;
  readonly types: readonly string[];
  readonly password: string;
  /** The address at which it connects, with user and password. */
  readonly url: string;
}

export interface ListenerOptions {
  /** The value of EVENTS_URL. */
  readonly url: string;
  /** For RabbitMQ, the management interface with an administrator. For pg-boss, an administrator's connection. */
  readonly adminUrl: string;
}

export interface Listeners {
  /**
   * Creates a queue that gets the events of these types, and a user that may only consume from it.
   * @throws StartError when there is a listener of this name, or the broker refuses
   */
  add(name: string, types: readonly string[]): Promise<AddedListener>;
  /** Returns the listeners by name. */
  list(): Promise<readonly Listener[]>;
  /** Deletes the user and the queue with its events. @throws StartError when there is no such listener */
  remove(name: string): Promise<void>;
}

export async function openListeners({ url, adminUrl }: ListenerOptions): Promise<Listeners> {
  const { addresses, namespace } = splitParameters(url);
  const [address = ''] = addresses;
  const store = await (address.startsWith('amqp')
    ? import('./rabbitmq/listeners.ts').then(({ rabbitmqListeners }) =>
        rabbitmqListeners({ address, namespace: namespace ?? 'shop', adminUrl }),
      )
    : import('./pg-boss/listeners.ts').then(({ pgBossListeners }) =>
        pgBossListeners({ namespace: namespace ?? 'events', adminUrl }),
      ));
  return {
    async add(name, types) {
      const password = randomBytes(24).toString('base64url');
      const unique = [...new Set(types)].sort();
      const access = await store.add(name, unique, password);
      const own = Object.assign(new URL(address), { username: access.user, password, search: '' });
      return { name, types: unique, ...access, password, url: own.href };
    },
    async list() {
      return (await store.list()).toSorted((a, b) => a.name.localeCompare(b.name));
    },
    async remove(name) {
      if (!(await store.remove(name))) throw new StartError(`there is no listener ${name}`);
    },
  };
}
