// All operations of changes: operationId → function.
import type { Operation } from './context.ts';
import type { operations as contract } from './generated.ts';
import { followChanges } from './operations/follow-changes.ts';
import { listChanges } from './operations/list-changes.ts';

export const operations: { readonly [Id in keyof contract]: Operation<Id> } = { followChanges, listChanges };
