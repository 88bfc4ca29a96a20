// The databases and the broker of the shop, open for a comparison of all services.
import { withClient } from '@shop/shared/database';
import { connectTransport, type DeadLetterStore, shopTopology, type Transport } from '@shop/shared/events';
import { createLog, type ServiceName, serviceNames } from '@shop/shared/runtime';
import type pg from 'pg';
import { connectWithin } from '../../shop/database.ts';
import { eventsUrlOf, withDeadLetters } from '../../shop/dead-letters.ts';
import type { OpenShop } from '../../shop/open-shop.ts';

/** Milliseconds. A server that stopped without closing its connections sends no result. Each query reads one batch. */
const queryWithin = 60_000;

/** A connection to each service's own database, as its own role. */
export type Clients = Readonly<Record<ServiceName, pg.Client>>;

export interface Servers {
  readonly shop: OpenShop;
  readonly clients: Clients;
  readonly transport: Transport;
  readonly letters: DeadLetterStore;
}

/** @throws BrokerUnavailableError when the broker does not answer, and the driver's error when a database does not */
export function withServers<T>(shop: OpenShop, use: (servers: Servers) => Promise<T>): Promise<T> {
  const connect = (names: readonly ServiceName[], open: Partial<Clients>): Promise<T> => {
    const [name, ...others] = names;
    if (name === undefined) {
      return withDeadLetters(shop, (letters) =>
        withTransport(shop, (transport) => use({ shop, clients: open as Clients, letters, transport })),
      );
    }
    const connection = { url: shop.databases[name], name: 'doctor', connectWithin, queryWithin };
    return withClient(connection, (client) => connect(others, { ...open, [name]: client }));
  };
  return connect(serviceNames, {});
}

async function withTransport<T>(shop: OpenShop, use: (transport: Transport) => Promise<T>): Promise<T> {
  const log = createLog('doctor', 'silent');
  const transport = await connectTransport({ url: eventsUrlOf(shop), name: 'doctor', topology: shopTopology, log });
  try {
    return await use(transport);
  } finally {
    await transport.close();
  }
}

/** The service that handles the events of a consumer. */
export function serviceOf(consumer: string): ServiceName {
  const service = serviceNames.find((name) => consumer.startsWith(`${name}.`));
  if (service === undefined) throw new Error(`no service has the consumer ${consumer}`);
  return service;
}
