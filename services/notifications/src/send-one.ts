// One e-mail: sent, and judged by how that ended.
import { inRequest, type Log, requestNow } from '@shop/shared/runtime';
import { runInSpan, SpanKind, startSpan } from '@shop/shared/telemetry';
import type { Due, Outcome, Tried } from './due.ts';
import { composeEmail, type Sender } from './email.ts';
import { type Mailer, UndeliverableError, UnsureError } from './mailer.ts';
import { isAboutOrder } from './notification.ts';

export interface SendOptions {
  readonly mailer: Mailer;
  readonly sender: Sender;
  readonly log: Log;
}

const longestDelay = 600;
/** With delays of 1, 2, 4, … and then 600 seconds this is about two days. */
const mostAttempts = 300;
/** Each of these attempts may have left a copy in the recipient's mailbox. */
const mostUnsure = 3;
/** A server may let us wait at each step; one that does nothing else is left in the end. In milliseconds. */
const sendWithin = 1_200_000;
const longestProblem = 1_000;

/**
 * Sends an e-mail as part of the request that caused it; never rejects.
 * @param halt ends the attempt
 */
export function sendOne(due: Due, options: SendOptions, halt: AbortSignal): Promise<Tried> {
  const { requestId: id, traceparent, kind } = due;
  const work = async (): Promise<Tried> => {
    const outcome = await attempt(due, options, AbortSignal.any([halt, AbortSignal.timeout(sendWithin)]));
    return { ...outcome, due, traceparent: requestNow()?.traceparent };
  };
  const span = startSpan(`send ${kind}`, SpanKind.PRODUCER, { 'shop.email.kind': kind }, traceparent);
  return span === undefined
    ? inRequest({ id, traceparent: traceparent ?? undefined }, work)
    : runInSpan(span, { id }, work);
}

async function attempt(due: Due, { mailer, sender, log }: SendOptions, signal: AbortSignal): Promise<Outcome> {
  const subject = isAboutOrder(due) ? { order: due.details.orderId } : { account: due.details.accountId };
  const about = { ...subject, kind: due.kind, requestId: due.requestId };
  try {
    if (due.email === null) throw new UndeliverableError('no address became known');
    await mailer.send(composeEmail(sender, { email: due.email, name: due.name ?? '' }, due), signal);
    log.info(about, 'e-mail sent');
    return { status: 'sent' };
  } catch (error) {
    const problem = storable(error instanceof Error ? error.message : String(error));
    const unsure = error instanceof UnsureError;
    const enough = due.attempts + 1 >= mostAttempts || (unsure && due.unsure + 1 >= mostUnsure);
    if (error instanceof UndeliverableError || enough) {
      log.error({ ...about, err: error }, 'e-mail given up');
      return { status: 'failed', problem, unsure };
    }
    log.warn({ ...about, err: error }, 'e-mail put off');
    const delay = unsure ? longestDelay : Math.min(2 ** Math.min(due.attempts, 16), longestDelay);
    return { status: 'waiting', problem, unsure, delay };
  }
}

/** A server may answer what PostgreSQL keeps in no text. */
function storable(text: string): string {
  return text.slice(0, longestProblem).replaceAll('\0', '\ufffd').toWellFormed();
}
