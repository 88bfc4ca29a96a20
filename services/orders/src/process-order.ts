import { advanceOrder } from './advance-order.ts';
import type { Operation } from './context.ts';

export const processOrder: Operation<'processOrder'> = async (request, context) => {
  return advanceOrder(request, context, 'processing');
};
