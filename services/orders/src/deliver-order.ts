// POST /v1/orders/{orderId}/deliver: the order has arrived.
import type { OperationRequest, Reply } from '@shop/shared/http';
import { advanceOrder } from './advance-order.ts';
import type { OrdersContext } from './context.ts';

export async function deliverOrder(request: OperationRequest, context: OrdersContext): Promise<Reply> {
  return advanceOrder(request, context, 'delivered');
}
