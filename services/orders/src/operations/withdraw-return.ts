// POST /v1/returns/{returnId}/withdraw: the owner or staff withdraws a return.
import type { Operation, OrderStore } from '../context.ts';
import { withdraw, withReturn } from '../returns/change-return.ts';

/** 200 with the return; 409 once it was refused or received. */
export const withdrawReturn: Operation<'withdrawReturn', OrderStore> = (request, context) =>
  withReturn(request, context, 'owner or staff', withdraw);
