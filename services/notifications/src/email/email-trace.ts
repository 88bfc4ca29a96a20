// The history of the e-mails about an order, for operators.
import type { Queryable } from '@shop/shared/database';
import { eventHistory, type HistoryStep } from '@shop/shared/events';
import { sortSteps } from '@shop/shared/trace';

interface EmailStep extends Omit<HistoryStep, 'what'> {
  readonly kind: 'e-mail';
  readonly at: Date;
  readonly requestId: string | null;
  readonly emailKind: string;
  readonly status: 'waiting' | 'sent' | 'failed' | 'obsolete' | 'withheld';
  readonly attempts: number;
  readonly problem: string | null;
}

const emails = `
  SELECT 'e-mail' AS kind, coalesce(settled_at, created_at) AS at, request_id AS "requestId",
    kind AS "emailKind", status,
    created_at AS "writtenAt", attempts, problem
  FROM notifications WHERE order_id = $1`;

/** Returns the e-mails and events about an order, by time. */
export async function readEmailTrace(from: Queryable, orderId: string): Promise<HistoryStep[]> {
  const { rows } = await from.query<EmailStep>(emails, [orderId]);
  const steps = rows.map((email) => ({ ...email, what: describe(email) }));
  return sortSteps([...steps, ...(await eventHistory(from, orderId))]);
}

/** Describes an e-mail. The number of attempts is omitted when the first one succeeded. */
function describe({ emailKind, status, attempts, problem }: EmailStep): string {
  const count = attempts > 1 || problem !== null ? `, ${attempts} attempts` : '';
  return `${emailKind} ${status}${count}${problem === null ? '' : `: ${problem}`}`;
}
