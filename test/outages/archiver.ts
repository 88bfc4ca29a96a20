// A process that archives finished orders all the time, however young they are. It is killed and started again as the
// services are, and its connections go through the same proxy.
import { setTimeout as sleep } from 'node:timers/promises';
import { withDatabase } from '@shop/shared/service';
import { archiveOrders } from '../../services/orders/src/archive-orders.ts';

/** Milliseconds between two passes. */
const pauseBetween = 200;

process.on('SIGTERM', () => process.exit());
process.on('disconnect', () => process.exit());

for (;;) {
  // The database may be unavailable, also for the first connection.
  await withDatabase({ url: String(process.env.DATABASE_URL), name: 'archiver' }, async (database) => {
    for (;;) {
      await archiveOrders(database, 0);
      await sleep(pauseBetween);
    }
  }).catch((error: unknown) => console.error(error));
  await sleep(pauseBetween);
}
