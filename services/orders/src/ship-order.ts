// POST /v1/orders/{orderId}/ship: the order leaves the house; from now on it cannot be cancelled.
import type { OperationRequest, Reply } from '@shop/shared/http';
import { advanceOrder } from './advance-order.ts';
import type { OrdersContext } from './context.ts';

export async function shipOrder(request: OperationRequest, context: OrdersContext): Promise<Reply> {
  return advanceOrder(request, context, 'shipped');
}
