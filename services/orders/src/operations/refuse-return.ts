// POST /v1/returns/{returnId}/refuse: staff refuses a return, with the reason for the customer.
import type { Operation, OrderStore } from '../context.ts';
import { refuseFor, withReturn } from '../returns/change-return.ts';

/** 200 with the return; 409 once it was withdrawn or received. */
export const refuseReturn: Operation<'refuseReturn', OrderStore> = (request, context) =>
  withReturn(request, context, 'staff', refuseFor(request.body.reason));
