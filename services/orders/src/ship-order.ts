import { advanceOrder } from './advance-order.ts';
import type { Operation } from './context.ts';

export const shipOrder: Operation<'shipOrder'> = async (request, context) => {
  return advanceOrder(request, context, 'shipped');
};
