// POST /v1/orders/{orderId}/returns: the owner or staff requests to return units of a shipped order.
import { idempotent, requireCaller } from '@shop/shared/http';
import type { Operation } from '../context.ts';
import { lockOrder } from '../order/order.ts';
import { requestReturn } from '../returns/request-return.ts';
import { showReturn } from '../returns/return.ts';

/** 201 with the return and its address; 409 when these units cannot be returned. Staff are bound to no period. */
export const createReturn: Operation<'createReturn'> = async (request, context) => {
  const caller = requireCaller(request);
  const isStaff = caller.scopes.has('orders:fulfil');
  return idempotent(request, context, async (tx) => {
    const order = await lockOrder(tx, request.path.orderId, isStaff ? undefined : caller.accountId);
    const id = await requestReturn(tx, request, order, request.body, isStaff ? undefined : context.returnDays);
    const shown = await showReturn(tx, context.returns, caller, { id, accountId: order.accountId });
    return { ...shown, status: 201, headers: { Location: `/v1/returns/${id}` } };
  });
};
