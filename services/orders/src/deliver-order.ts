import { advanceOrder } from './advance-order.ts';
import type { Operation } from './context.ts';

export const deliverOrder: Operation<'deliverOrder'> = async (request, context) => {
  return advanceOrder(request, context, 'delivered');
};
