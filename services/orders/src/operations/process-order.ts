import type { Operation } from '../context.ts';
import { advanceOrder } from '../order/advance-order.ts';

export const processOrder: Operation<'processOrder'> = async (request, context) => {
  return advanceOrder(request, context, 'processing');
};
