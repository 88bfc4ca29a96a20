// A process that kills itself with SIGKILL at the named point: `relay` after publishing and before marking, `consumer`
// after the handler's COMMIT and before the acknowledgement.
import { connectDatabase, sql } from '../../src/database/index.ts';
import { connectTransport, consume, startRelay, type Topology, type Transport } from '../../src/events/index.ts';
import { createLog } from '../../src/runtime/index.ts';

const [point = '', eventsUrl = '', databaseUrl = '', topologyJson = ''] = process.argv.slice(2);
const log = createLog('dying', 'silent');
const topology = JSON.parse(topologyJson) as Topology;
const transport = await connectTransport({ url: eventsUrl, name: 'dying', topology, log });

function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

if (point === 'relay') {
  const deadly: Transport = {
    ...transport,
    async publish(messages) {
      const outcomes = await transport.publish(messages);
      if (messages.length > 0) die();
      return outcomes;
    },
  };
  startRelay({ databaseUrl, transport: deadly, source: '/test', log });
} else {
  const deadly: Transport = {
    ...transport,
    subscribe: (subscription) =>
      transport.subscribe({
        ...subscription,
        async handle(delivery) {
          const verdict = await subscription.handle(delivery);
          die();
          return verdict;
        },
      }),
  };
  const database = connectDatabase({ url: databaseUrl, name: 'dying', log });
  await consume({
    name: 'dying',
    transport: deadly,
    database,
    log,
    handlers: {
      'order.shipped.v1': async (event, tx) => {
        await sql(tx, 'INSERT INTO effects (event_id) VALUES ($1)', [event.id]);
      },
    },
  });
}
