// The limits as gateway.config.yml states them, and the schemas that check them.
import type { Rate } from './token-bucket.ts';

/** Failures a minute after which a client has to wait. */
export interface FailureBounds {
  /** The limit for one e-mail address and one client network. */
  readonly failuresPerEmailAndAddress?: number;
  /** The bound for one e-mail address and all client networks that have never succeeded with it. */
  readonly failuresPerEmail?: number;
}

/**
 * Attempts a minute after which a client has to wait, for an operation that returns the same response to every attempt.
 */
export interface AttemptBounds {
  /** The bound for one e-mail address and one client network. */
  readonly attemptsPerEmailAndAddress?: number;
  /** The bound for one e-mail address and all client networks. */
  readonly attemptsPerEmail?: number;
}

export interface OperationLimit extends FailureBounds, AttemptBounds {
  readonly rate: Rate;
  /** Responses 409 a minute for each account, and for each client network. */
  readonly conflictsPerCaller?: number;
  /** Responses 403 a minute to one account. Each of them may be a password guess by the bearer of a stolen token. */
  readonly forbiddenPerAccount?: number;
  /** Open event streams of one client network. */
  readonly streamsPerAddress?: number;
}

/** The member `limit` of the policy `api`. */
export interface ApiLimit {
  /** The rate of each operation that is not listed in `operations`. */
  readonly rate: Rate;
  readonly operations?: Readonly<Record<string, OperationLimit>>;
}

const positive = { type: 'integer', minimum: 1 };
export const rateSchema = {
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

export const apiLimitSchema = {
  type: 'object',
  properties: {
    rate: rateSchema,
    operations: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: {
          rate: rateSchema,
          failuresPerEmail: positive,
          failuresPerEmailAndAddress: positive,
          attemptsPerEmail: positive,
          attemptsPerEmailAndAddress: positive,
          conflictsPerCaller: positive,
          forbiddenPerAccount: positive,
          streamsPerAddress: positive,
        },
        required: ['rate'],
        additionalProperties: false,
      },
    },
  },
  required: ['rate'],
};
