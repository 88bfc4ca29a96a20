// return.received.v1: the inventory handler. Adds the units that are sold again to the stock, and publishes an event
// about it. A return without such units is ignored.
import { appendEvent, type SelectiveHandler } from '@shop/shared/events';
import { databaseTime } from '../stock/database-time.ts';
import { restock } from '../stock/restock.ts';

export const onReturnReceived: SelectiveHandler<'return.received.v1'> = {
  when: ({ data }) => data.lines.some((line) => line.restock),
  async handle({ data, sequence, requestId, traceparent }, tx) {
    const { orderId, accountId, returnId } = data;
    const units = data.lines.filter((line) => line.restock);
    const reason = `return ${returnId}`;
    const isDone = await restock(tx, units, { actor: 'system', requestId, traceparent, reason });
    await appendEvent(tx, {
      type: 'stock.returned.v1',
      subject: returnId,
      sequence,
      requestId,
      traceparent,
      data: {
        orderId,
        accountId,
        returnId,
        outcome: isDone ? 'done' : 'failed',
        returnedAt: (await databaseTime(tx)).toISOString(),
      },
    });
  },
};
