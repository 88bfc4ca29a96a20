// The history of the e-mails about one order, for operators.
import type { HistoryStep } from '@shop/shared/events';
import { type Environment, readConfig } from '@shop/shared/runtime';
import { serviceVariables, withDatabase } from '@shop/shared/service';
import { readEmailTrace } from '../email/email-trace.ts';

/** Returns the e-mails and events about an order, by time. Of `environment` only DATABASE_URL is read. */
export async function traceEmails(environment: Environment, orderId: string): Promise<HistoryStep[]> {
  const { databaseUrl: url } = readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
  return withDatabase({ url, name: 'trace' }, ({ pool }) => readEmailTrace(pool, orderId));
}
