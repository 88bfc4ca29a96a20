// All operations of notifications: operationId → function.
import type { Operation } from './context.ts';
import { exportEmails } from './export-emails.ts';
import type { operations as contract } from './generated.ts';
import { traceEmails } from './trace-emails.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = { exportEmails, traceEmails };
