// POST /v1/returns/{returnId}/receive: staff records the units that arrived.
import type { Operation } from '../context.ts';
import { withReturn } from '../returns/change-return.ts';
import { receiveWith } from '../returns/receive-return.ts';

/** 200 with the return; 409 once it was refused or withdrawn, and for more units than it has. */
export const receiveReturn: Operation<'receiveReturn'> = (request, context) =>
  withReturn(request, context, 'staff', receiveWith({ ...context, lines: request.body.lines }));
