// GET /v1/returns/{returnId}: one return, for its owner and for staff.
import { requireCaller } from '@shop/shared/http';
import type { Operation, OrderStore } from '../context.ts';
import { findReturn } from '../returns/find-return.ts';

/** 404 for a return that does not exist, and the same 404 for a return of another account. */
export const getReturn: Operation<'getReturn', OrderStore> = async (request, context) =>
  findReturn(context, requireCaller(request), request.path.returnId);
