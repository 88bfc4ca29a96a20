// A connection of a test to the broker, beside those of the services.
import { connectTransport, shopTopology, type Transport } from '../events/index.ts';
import { createLog } from '../runtime/index.ts';

/** Milliseconds for the first connection, which takes long on a busy machine. */
export const connectTimeout = 60_000;

/** Connects to the broker at the URL, with the queues of the shop. */
export function connectTestTransport(url: string): Promise<Transport> {
  return connectTransport({
    url,
    name: 'tests',
    topology: shopTopology,
    log: createLog('tests', 'silent'),
    connectTimeout,
  });
}
