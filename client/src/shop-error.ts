// The error that functions throw when the shop rejects a request: its problem document as an error.
import type { Failure, OperationId } from './call.ts';
import type { components, operations } from './contract.ts';
import { temporaryStatuses } from './repeat.ts';

export type ProblemDocument = components['schemas']['Problem'];

/** The codes that the contract documents for an operation. */
export type ProblemCode<Id extends OperationId = OperationId> = {
  [Each in Id]: Failure<operations[Each]>['code'];
}[Id];

/** An error of this operation. `code` is one of the codes that the contract documents for it. */
export type Refusal<Id extends OperationId = OperationId> = {
  [Each in Id]: ShopError<ProblemCode<Each>> & { readonly operation: Each };
}[Id];

/**
 * An error response to a request. `code` identifies the reason. After `error instanceof ShopError`, a comparison of
 * `error.operation` narrows it to the codes of that operation.
 */
export class ShopError<Code extends string = ProblemCode> extends Error {
  /** The `operationId` of the rejected request, such as `createOrder`. */
  readonly operation: OperationId;
  readonly status: number;
  /** The id of the request. Quote it when you report the problem. */
  readonly requestId: string | undefined;
  /**
   * The problem document (RFC 9457). Undefined when the response was not sent by the shop, but for example by a proxy.
   */
  readonly problem: (ProblemDocument & { readonly code: Code }) | undefined;

  /** @param content the parsed body of the response */
  constructor(operation: OperationId, response: Response, content: unknown) {
    const problem = isProblem<Code>(content) ? content : undefined;
    super(problem === undefined ? withoutProblem(response) : messageOf(problem));
    this.name = 'ShopError';
    this.operation = operation;
    this.status = response.status;
    this.requestId = problem?.instance ?? response.headers.get('x-request-id') ?? undefined;
    this.problem = problem;
  }

  /** The code of the problem document; undefined without one. */
  get code(): Code | undefined {
    return this.problem?.code;
  }

  /** The type of `instanceof`: it narrows an unknown error as `isShopError` does, and not to `ShopError<any>`. */
  declare static [Symbol.hasInstance]: (value: unknown) => value is Refusal;
}

/** Returns the detail of a problem, and its first fault with the pointer when the detail does not contain it. */
function messageOf({ detail, errors = [] }: ProblemDocument): string {
  const [fault, ...more] = errors;
  if (fault === undefined || detail.includes(fault.detail)) return detail;
  const place = fault.pointer ?? fault.parameter ?? fault.header;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  return `${detail} ${place === undefined ? '' : `${place}: `}${fault.detail}${others}`;
}

/**
 * Describes a response that was not sent by the shop. The address helps most, because another server responds there.
 */
function withoutProblem({ status, statusText, url }: Response): string {
  const address = url === '' ? '' : ` of ${url.split('?', 1)[0]}`;
  return `The answer${address} was ${`${status} ${statusText}`.trimEnd()}`;
}

/**
 * Returns whether an error is an error response of one of these operations, or of any operation when none is given.
 * Narrows `code` to the codes that the contract documents for them.
 *
 * @example
 * if (isShopError(error, 'createOrder') && error.code === 'insufficient-stock') showAvailable(error.problem?.errors);
 */
export function isShopError<Id extends OperationId = OperationId>(
  error: unknown,
  ...operations: readonly Id[]
): error is Refusal<Id> {
  return (
    error instanceof ShopError &&
    (operations.length === 0 || operations.some((operation) => operation === error.operation))
  );
}

/** Returns whether a failed read may succeed on a retry: the shop was unreachable, or the status is a temporary one. */
export function isTemporaryFailure(error: unknown): boolean {
  return !(error instanceof ShopError) || temporaryStatuses.has(error.status);
}

/** Returns whether the content of a response is a problem document of the shop. */
export function isProblem<Code extends string>(content: unknown): content is ProblemDocument & { readonly code: Code } {
  if (typeof content !== 'object' || content === null) return false;
  const { code, detail } = content as Readonly<Record<string, unknown>>;
  return typeof code === 'string' && typeof detail === 'string';
}

/**
 * Returns the data of a response.
 * @throws ShopError without data
 */
export function dataOf<Found>(
  operation: OperationId,
  { data, error, response }: { readonly data?: Found; readonly error?: unknown; readonly response: Response },
): Exclude<Found, undefined> {
  if (data === undefined) throw new ShopError(operation, response, error);
  return data as Exclude<Found, undefined>;
}
