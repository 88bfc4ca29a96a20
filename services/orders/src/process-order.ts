// POST /v1/orders/{orderId}/process: work on the order begins.
import type { OperationRequest, Reply } from '@shop/shared/http';
import { advanceOrder } from './advance-order.ts';
import type { OrdersContext } from './context.ts';

export async function processOrder(request: OperationRequest, context: OrdersContext): Promise<Reply> {
  return advanceOrder(request, context, 'processing');
}
