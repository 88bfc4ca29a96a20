// The function of an operation.
import type { Answer, Calls, Data, OperationId } from './call.ts';
import type { Endpoint, operations } from './contract.ts';
import { pathValues } from './list.ts';
import { dataOf } from './shop-error.ts';

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Further header fields, such as `If-Match`. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ChangeOptions extends CallOptions {
  /**
   * The caller's own idempotency key, to repeat a change after a restart of the program. By default, a new one is used.
   */
  readonly idempotencyKey?: string;
}

type Parameters<Id extends OperationId> = operations[Id]['parameters'];

/** A path has at most one parameter. */
type Path<Id extends OperationId> =
  Parameters<Id> extends { readonly path: infer Values } ? [id: Values[keyof Values]] : [];

type Body<Id extends OperationId> = operations[Id] extends { readonly requestBody?: never }
  ? []
  : operations[Id] extends { readonly requestBody: { readonly content: infer Media } }
    ? [body: Media[keyof Media]]
    : operations[Id] extends { readonly requestBody?: { readonly content: infer Media } }
      ? [body?: Media[keyof Media]]
      : [];

type Options<Id extends OperationId> =
  NonNullable<Parameters<Id>['header']> extends { readonly 'Idempotency-Key'?: string } ? ChangeOptions : CallOptions;

type Result<Id extends OperationId> = [Exclude<Data<operations[Id]>, undefined>] extends [never]
  ? undefined
  : Exclude<Data<operations[Id]>, undefined>;

/** The id in the path, the body, and options; an operation without an id or a body leaves it out. */
export type Operate<Id extends OperationId> = (
  ...given: [...Path<Id>, ...Body<Id>, options?: Options<Id>]
) => Promise<Result<Id>>;

/** @param target method and path */
export function createOperate(call: Calls, target: string, { id, body: takesBody }: Endpoint) {
  const [method = '', path = ''] = target.split(' ');
  // The types of a path that is only known at run time cannot be computed.
  const send = call[method as keyof Calls] as (path: string, init: object) => Promise<Answer<unknown>>;
  return async (...given: unknown[]): Promise<unknown> => {
    const values = path.includes('{') ? { path: pathValues(path, given.shift()) } : {};
    const body = takesBody ? (given.shift() ?? {}) : undefined;
    const { idempotencyKey, ...rest } = (given[0] ?? {}) as ChangeOptions;
    const params = {
      ...values,
      ...(idempotencyKey !== undefined && { header: { 'Idempotency-Key': idempotencyKey } }),
    };
    const answer = await send(path, { params, ...(body !== undefined && { body }), ...rest });
    // Both can be without content, which is a success here.
    return [202, 204].includes(answer.response.status) ? answer.data : dataOf(id, answer);
  };
}
