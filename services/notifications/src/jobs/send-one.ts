// Sends one e-mail, and decides from the error whether it is tried again.
import { inRequest, type Log, requestNow, toReason } from '@shop/shared/runtime';
import { runInSpan, SpanKind, startSpan } from '@shop/shared/telemetry';
import { composeEmail, type Sender } from '../email/email.ts';
import { DeliveryUnknownError, type Mailer, UndeliverableError } from '../email/mailer.ts';
import { isAboutOrder, isWithToken } from '../email/notification.ts';
import type { AttemptedEmail, QueuedEmail, SendOutcome } from '../email/notification-queue.ts';

export interface SendOptions {
  readonly mailer: Mailer;
  readonly sender: Sender;
  readonly log: Log;
}

const longestDelay = 600;
/** The maximum number of attempts. With delays of 1, 2, 4, … and then 600 seconds, they take about two days. */
const mostAttempts = 300;
/**
 * The maximum number of attempts with an unknown outcome, because each of them may have put a copy into the recipient's
 * mailbox.
 */
const mostUncertain = 3;
/** Milliseconds after which the whole delivery is aborted. Each SMTP command has a shorter timeout. */
const sendWithin = 1_200_000;
const longestProblem = 1_000;

/**
 * Sends an e-mail as part of the request that caused it; never rejects.
 * @param halt aborts the attempt
 */
export function sendOne(email: QueuedEmail, options: SendOptions, halt: AbortSignal): Promise<AttemptedEmail> {
  const { requestId: id, traceparent, kind } = email;
  const work = async (): Promise<AttemptedEmail> => {
    const outcome = await attempt(email, options, AbortSignal.any([halt, AbortSignal.timeout(sendWithin)]));
    return { ...outcome, email, traceparent: requestNow()?.traceparent };
  };
  const span = startSpan(`send ${kind}`, SpanKind.PRODUCER, { 'shop.email.kind': kind }, traceparent);
  return span === undefined
    ? inRequest({ id, traceparent: traceparent ?? undefined }, work)
    : runInSpan(span, { id }, work);
}

async function attempt(
  email: QueuedEmail,
  { mailer, sender, log }: SendOptions,
  signal: AbortSignal,
): Promise<SendOutcome> {
  const subject = isAboutOrder(email) ? { order: email.details.orderId } : { account: email.details.accountId };
  const about = { ...subject, kind: email.kind, requestId: email.requestId };
  if (email.unverified) {
    log.info(about, 'e-mail withheld');
    return { status: 'withheld', problem: 'the address was not verified within a week' };
  }
  try {
    if (email.address === null) throw new UndeliverableError('no address became known');
    if (isWithToken(email) && Date.parse(email.details.expiresAt) <= Date.now()) {
      throw new UndeliverableError('its token has expired');
    }
    const recipient = { email: email.address, name: email.name ?? '', locale: email.locale };
    await mailer.send(composeEmail(sender, recipient, email, email.resends), signal);
    log.info(about, 'e-mail sent');
    return { status: 'sent' };
  } catch (error) {
    const problem = storable(toReason(error));
    const uncertain = error instanceof DeliveryUnknownError;
    const enough = email.attempts + 1 >= mostAttempts || (uncertain && email.uncertainAttempts + 1 >= mostUncertain);
    if (error instanceof UndeliverableError || enough) {
      log.error({ ...about, err: error }, 'e-mail given up');
      return { status: 'failed', problem, uncertain };
    }
    log.warn({ ...about, err: error }, 'e-mail put off');
    const delay = uncertain ? longestDelay : Math.min(2 ** Math.min(email.attempts, 16), longestDelay);
    return { status: 'waiting', problem, uncertain, delay };
  }
}

/** Returns a string that PostgreSQL can store. An SMTP server may send NUL or bytes that are not UTF-8. */
function storable(text: string): string {
  return text.slice(0, longestProblem).replaceAll('\0', '\ufffd').toWellFormed();
}
