import type { Operation } from '../context.ts';
import { advanceOrder } from '../order/advance-order.ts';

export const deliverOrder: Operation<'deliverOrder'> = async (request, context) => {
  return advanceOrder(request, context, 'delivered');
};
