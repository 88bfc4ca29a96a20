// The history of the e-mails about one order, for operators.
import { eventHistory, type HistoryStep, sortSteps } from '@shop/shared/events';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';

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

/** The e-mails and events about an order, by time. Of `environment` only DATABASE_URL is read. */
export async function traceEmails(environment: Environment, orderId: string): Promise<HistoryStep[]> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'trace' }, async ({ pool }) => {
    const { rows } = await pool.query<EmailStep>(emails, [orderId]);
    const steps = rows.map((email) => ({ ...email, what: describe(email) }));
    return sortSteps([...steps, ...(await eventHistory(pool, orderId))]);
  });
}

/** The text leaves out the number of attempts when the first one succeeded. */
function describe({ emailKind, status, attempts, problem }: EmailStep): string {
  const count = attempts > 1 || problem !== null ? `, ${attempts} attempts` : '';
  return `${emailKind} ${status}${count}${problem === null ? '' : `: ${problem}`}`;
}
