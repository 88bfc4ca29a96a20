// Selects RabbitMQ or pg-boss by the scheme of EVENTS_URL.
import { parseAddresses, StartError } from '../runtime/index.ts';
import type { Transport, TransportOptions } from './transport.ts';

/**
 * Connects to the broker of the URL. Also resolves while the broker is unavailable; the transport then continues to
 * try.
 * @throws StartError when the broker rejects the credentials, or its topology exists with other arguments
 */
export async function connectTransport(options: TransportOptions): Promise<Transport> {
  const { addresses, namespace, declares } = splitParameters(options.url);
  const [url = ''] = addresses;
  switch (new URL(url).protocol) {
    case 'amqp:':
    case 'amqps:': {
      const { connectRabbitmq } = await import('./rabbitmq/rabbitmq.ts');
      return connectRabbitmq({ ...options, addresses, namespace: namespace ?? 'shop', declares });
    }
    case 'postgres:':
    case 'postgresql:':
      return (await import('./pg-boss/pg-boss.ts')).connectPgBoss({
        ...options,
        url,
        namespace: namespace ?? 'events',
      });
    default:
      throw new StartError('EVENTS_URL must start with amqp://, amqps:// or postgres://');
  }
}

interface Parameters {
  /** The URL of each node, without these parameters. */
  readonly addresses: readonly string[];
  readonly namespace: string | undefined;
  readonly declares: 'all' | 'own';
}

export function splitParameters(text: string): Parameters {
  const urls = parseAddresses(text).map((address) => new URL(address));
  // All addresses have the same parameters.
  const parameters = new URLSearchParams(urls[0]?.search);
  const namespace = parameters.get('namespace') ?? undefined;
  if (namespace !== undefined && !/^[a-z][a-z0-9_]{0,40}$/.test(namespace)) {
    throw new StartError('the namespace in EVENTS_URL must be a lower-case letter and up to 40 of a-z, 0-9 and _');
  }
  const declares = parameters.get('declare') ?? 'all';
  if (declares !== 'all' && declares !== 'own') throw new StartError('declare in EVENTS_URL must be all or own');
  for (const { searchParams } of urls) {
    searchParams.delete('namespace');
    searchParams.delete('declare');
  }
  return { addresses: urls.map(({ href }) => href), namespace, declares };
}
