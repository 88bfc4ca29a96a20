// GET /internal/orders/{orderId}/trace: the history of the e-mails about an order, for operators.
import { toTraceStep } from '@shop/shared/events';
import type { Operation } from '../context.ts';
import { readEmailTrace } from '../email/email-trace.ts';

/** Returns an empty list for an order without e-mails. */
export const traceEmails: Operation<'traceEmails'> = async ({ path: { orderId } }, { database }) => {
  const steps = await readEmailTrace(database.pool, orderId);
  return { status: 200, body: { steps: steps.map(toTraceStep) } };
};
