// All operations of notifications: operationId → function.
import type { Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { exportEmails } from './operations/export-emails.ts';
import { traceEmails } from './operations/trace-emails.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = { exportEmails, traceEmails };
