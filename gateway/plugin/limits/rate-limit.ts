// Policy `limit`: how often one account, or one address, may call one operation.

import { clientNetwork } from '../entry/client-network.ts';
import type { GatewayRequest, GatewayResponse, Policy } from '../entry/gateway-request.ts';
import { bufferedAtMost, readBody } from '../entry/request-body.ts';
import { ConflictLimit } from './conflict-limit.ts';
import { FailedAttempts, type FailureBounds } from './failed-attempts.ts';
import type { RateLimitStore } from './rate-limit-store.ts';
import { type Rate, TokenBucket } from './token-bucket.ts';

/** The limit of an operation of its own, beside what its answers tell. */
export interface OperationLimit extends FailureBounds {
  readonly rate: Rate;
  /** Answers 409 a minute for each account, and for each client address. */
  readonly conflictsPerCaller?: number;
}

export interface LimitAction {
  /** The limit of every operation that has none of its own. */
  readonly rate: Rate;
  readonly operations?: Readonly<Record<string, OperationLimit>>;
}

const positive = { type: 'integer', minimum: 1 };
const rate = {
  type: 'object',
  properties: {
    steady: positive,
    seconds: positive,
    reserve: positive,
    reserveSeconds: positive,
    accountsPerAddress: positive,
  },
  required: ['steady', 'seconds'],
};

/** @param known the operations of the contracts read so far: a limit for another one is a mistake in the configuration */
export function limit(counters: RateLimitStore, maximumBody: number, known: ReadonlySet<string>): Policy {
  return {
    name: 'limit',
    schema: {
      $id: 'policy:limit',
      type: 'object',
      properties: {
        rate,
        operations: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            properties: {
              rate,
              failuresPerEmail: positive,
              failuresPerEmailAndAddress: positive,
              conflictsPerCaller: positive,
            },
            required: ['rate'],
            additionalProperties: false,
          },
        },
      },
      required: ['rate'],
    },
    policy(action: LimitAction) {
      const allowances = new Map<string, TokenBucket>();
      const failures = new Map<string, FailedAttempts>();
      const conflicts = new Map<string, ConflictLimit>();
      for (const [id, own] of Object.entries(action.operations ?? {})) {
        if (!known.has(id)) throw new Error(`a limit is given for ${id}, which no contract has`);
        allowances.set(id, new TokenBucket(counters, id, own.rate));
        if (own.failuresPerEmail !== undefined || own.failuresPerEmailAndAddress !== undefined)
          failures.set(id, new FailedAttempts(counters, id, own));
        if (own.conflictsPerCaller !== undefined)
          conflicts.set(id, new ConflictLimit(counters, id, own.conflictsPerCaller));
      }
      const check = async (request: GatewayRequest, response: GatewayResponse): Promise<void> => {
        // Pages and OPTIONS are no operation; an address has one share for all of them.
        const id = request.operation?.operationId ?? 'others';
        const allowance = allowances.get(id) ?? new TokenBucket(counters, id, action.rate);
        allowances.set(id, allowance);
        const network = clientNetwork(request.client);
        const account = request.caller?.accountId;
        await allowance.take(request, network, account);
        if (request.refusal !== undefined) throw request.refusal;
        await conflicts.get(id)?.watch(account === undefined ? [network] : [account, network], response);
        const watched = failures.get(id);
        if (watched === undefined) return;
        // Taken in whole: a body that streams through cannot be watched.
        const body = await readBody(request, response, Math.min(maximumBody, bufferedAtMost));
        await watched.watch(body, network, response);
      };
      return (request, response, next) => {
        check(request, response).then(() => next(), next);
      };
    },
  };
}
