// Policy `limit`: how often one account, or one address without an account, may ask for one operation.
import { isIPv6 } from 'node:net';
import { Allowance, type Rate } from './allowance.ts';
import { bodyOf, collected } from './collect-body.ts';
import type { Counters } from './counters.ts';
import type { GatewayRequest, GatewayResponse, Policy } from './exchange.ts';
import { FailedAttempts } from './failed-attempts.ts';

export interface LimitAction {
  /** The limit of every operation that has none of its own. */
  readonly rate: Rate;
  /** operationId → its own limit, and failures a minute for each e-mail address in its body. */
  readonly operations?: Readonly<Record<string, { readonly rate: Rate; readonly failuresPerEmail?: number }>>;
}

const positive = { type: 'integer', minimum: 1 };
const rate = {
  type: 'object',
  properties: { steady: positive, seconds: positive, reserve: positive, reserveSeconds: positive },
  required: ['steady', 'seconds'],
};

/** @param known the operations of the contracts read so far: a limit for another one is a mistake in the configuration */
export function limit(counters: Counters, maximumBody: number, known: ReadonlySet<string>): Policy {
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
            properties: { rate, failuresPerEmail: positive },
            required: ['rate'],
            additionalProperties: false,
          },
        },
      },
      required: ['rate'],
    },
    policy(action: LimitAction) {
      const allowances = new Map<string, Allowance>();
      const failures = new Map<string, FailedAttempts>();
      for (const [id, own] of Object.entries(action.operations ?? {})) {
        if (!known.has(id)) throw new Error(`a limit is given for ${id}, which no contract has`);
        allowances.set(id, new Allowance(counters, id, own.rate));
        if (own.failuresPerEmail !== undefined)
          failures.set(id, new FailedAttempts(counters, id, own.failuresPerEmail));
      }
      const check = async (request: GatewayRequest, response: GatewayResponse): Promise<void> => {
        // Pages and OPTIONS are no operation; an address has one share for all of them.
        const id = request.operation?.operationId ?? 'others';
        const allowance = allowances.get(id) ?? new Allowance(counters, id, action.rate);
        allowances.set(id, allowance);
        await allowance.take(request, callerKey(request));
        if (request.refusal !== undefined) throw request.refusal;
        const watched = failures.get(id);
        if (watched === undefined) return;
        // Taken in whole: a body that streams through cannot be watched.
        const body = await bodyOf(request, response, Math.min(maximumBody, collected));
        await watched.watch(body, response);
      };
      return (request, response, next) => {
        check(request, response).then(() => next(), next);
      };
    },
  };
}

/** Whoever has one IPv6 address has the 2^64 beside it. */
function callerKey({ caller, client }: GatewayRequest): string {
  if (caller !== undefined) return caller.accountId;
  return isIPv6(client) ? network(client) : client;
}

/** The first 64 bits of an IPv6 address. */
function network(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
