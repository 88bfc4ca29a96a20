// The context that main.ts gives to the operations of notifications.
import type { Database } from '@shop/shared/database';
import type { TypedOperation } from '@shop/shared/http';
import type { operations } from './generated.ts';

export interface Context {
  readonly database: Database;
}

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations> = TypedOperation<operations[Id], Context>;
