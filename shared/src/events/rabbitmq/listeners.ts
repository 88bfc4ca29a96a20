// Listeners on RabbitMQ: a user and a queue of one name, created over the management interface, because AMQP creates no users.
import { StartError, toReason } from '../../runtime/index.ts';
import { type ListenerStore, listenerExists } from '../listener.ts';
import { toNames } from './topology.ts';

export interface RabbitmqListenerOptions {
  /** An address of the broker, of which the virtual host is used. */
  readonly address: string;
  readonly namespace: string;
  /** The address of the management interface, with an administrator. */
  readonly adminUrl: string;
}

/** A queue that nobody reads drops its oldest events at this size, so that the disk of the broker does not become full. */
const mostBytes = 1024 ** 3;

const answerWithin = 15_000;

interface Response {
  readonly status: number;
  readonly body: unknown;
}

export function rabbitmqListeners({ address, namespace, adminUrl }: RabbitmqListenerOptions): ListenerStore {
  const names = toNames(namespace);
  const prefix = names.queue('listener.');
  const vhost = encodeURIComponent(decodeURIComponent(new URL(address).pathname.slice(1)) || '/');
  const call = managementOf(adminUrl);
  const userAt = (id: string): string => `/api/users/${encodeURIComponent(id)}`;
  const queueAt = (id: string): string => `/api/queues/${vhost}/${encodeURIComponent(id)}`;
  const bindingsAt = (id: string): string =>
    `/api/bindings/${vhost}/e/${encodeURIComponent(names.exchange)}/q/${encodeURIComponent(id)}`;
  const remove = async (id: string): Promise<boolean> => {
    const user = await call('DELETE', userAt(id));
    const queue = await call('DELETE', queueAt(id));
    return user.status !== 404 || queue.status !== 404;
  };
  return {
    async add(name, types, password) {
      const id = prefix + name;
      for (const path of [userAt(id), queueAt(id)]) {
        if ((await call('GET', path)).status !== 404) throw listenerExists(name);
      }
      try {
        const limits = { 'x-queue-type': 'quorum', 'x-max-length-bytes': mostBytes };
        await call('PUT', queueAt(id), { durable: true, auto_delete: false, arguments: limits });
        for (const type of types) {
          const { status } = await call('POST', bindingsAt(id), { routing_key: type, arguments: {} });
          if (status === 404) throw new StartError(`RabbitMQ has no exchange ${names.exchange}: start the shop first`);
        }
        await call('PUT', userAt(id), { password, tags: '' });
        const own = `^${id.replaceAll('.', '\\.')}$`;
        await call('PUT', `/api/permissions/${vhost}/${encodeURIComponent(id)}`, {
          ...{ configure: '^$', write: '^$', read: own },
        });
      } catch (error) {
        await remove(id).catch(() => {});
        throw error;
      }
      return { queue: id, user: id };
    },
    async list() {
      const { body } = await call('GET', `/api/queues/${vhost}`);
      const queues = (body as { name: string; messages?: number }[]).filter((queue) => queue.name.startsWith(prefix));
      return Promise.all(
        queues.map(async ({ name: id, messages = 0 }) => {
          const bindings = (await call('GET', bindingsAt(id))).body as { routing_key: string }[];
          return {
            name: id.slice(prefix.length),
            types: bindings.map(({ routing_key: type }) => type).sort(),
            backlog: messages,
          };
        }),
      );
    },
    remove: (name) => remove(prefix + name),
  };
}

/**
 * Returns a function that sends a request to the management interface.
 * @throws StartError from it when the interface does not respond, or refuses for another reason than a missing object
 */
function managementOf(adminUrl: string): (method: string, path: string, body?: object) => Promise<Response> {
  const { origin, pathname, username, password, host } = new URL(adminUrl);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers = {
    Authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
    'Content-Type': 'application/json',
  };
  return async (method, path, body) => {
    const response = await fetch(origin + pathname.replace(/\/$/, '') + path, {
      ...{ method, headers, signal: AbortSignal.timeout(answerWithin) },
      ...(body && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
      throw new StartError(`the management interface of RabbitMQ at ${host} does not respond: ${toReason(cause)}`);
    });
    const text = await response.text();
    if (response.ok || response.status === 404) {
      return { status: response.status, body: response.ok && text !== '' ? JSON.parse(text) : undefined };
    }
    if (response.status === 401) {
      const user = decodeURIComponent(username);
      throw new StartError(`RabbitMQ refuses the user ${user} of EVENTS_ADMIN_URL: it must have the tag administrator`);
    }
    throw new StartError(`RabbitMQ answered ${response.status} to ${method} ${path}: ${text.slice(0, 300)}`);
  };
}
