// POST /v1/returns/{returnId}/approve: staff approves a return.
import type { Operation, OrderStore } from '../context.ts';
import { approve, withReturn } from '../returns/change-return.ts';

/** 200 with the return; 409 once it was refused, withdrawn or received. */
export const approveReturn: Operation<'approveReturn', OrderStore> = (request, context) =>
  withReturn(request, context, 'staff', approve);
