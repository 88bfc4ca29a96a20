// The parameters of a statement. Each parameter refers to the location of its value in a request, and never contains
// the value itself.
import type { Criteria, Position } from '../grammar/criteria.ts';

/** Values for the scope of a spec: name → value. */
export type Scope = Readonly<Record<string, string>>;

export interface Input {
  readonly criteria: Criteria;
  readonly position: Position | undefined;
  readonly scope: Scope;
}

/** The location of a condition: outside alternatives, or in one of them. It is the same in every request of a shape. */
export interface ConditionLocation {
  readonly group?: number;
  readonly index: number;
}

/**
 * The source of a parameter: a value of the scope, a sort column of the last row, or a condition. Of a list, it is all
 * values or one item.
 */
export type Source =
  | { readonly scope: string }
  | { readonly after: number }
  | (ConditionLocation & { readonly item?: number });

/** Returns the parameter for a source. The same source always gets the same parameter. */
export type Bind = (source: Source, cast: string) => string;

/**
 * Numbers parameters in the order in which they are first bound.
 * @returns `values` with the function that reads the parameters from any request of the shape. It does not refer to the
 * request that was compiled.
 */
export function parameters(): { readonly bind: Bind; readonly values: (input: Input) => unknown[] } {
  const sources: Source[] = [];
  const known = new Map<string, string>();
  return {
    bind(source, cast) {
      const key = JSON.stringify(source);
      const parameter = known.get(key) ?? `$${sources.push(source)}::${cast}`;
      known.set(key, parameter);
      return parameter;
    },
    values: (input) => sources.map((source) => valueAt(source, input)),
  };
}

function valueAt(source: Source, { criteria, position, scope }: Input): unknown {
  if ('scope' in source) return scope[source.scope];
  if ('after' in source) return position?.[source.after];
  const { group, index, item } = source;
  const condition = (group === undefined ? criteria.conditions : criteria.or[group])?.[index];
  if (condition?.operator !== 'in') return condition?.value;
  return item === undefined ? condition.values : condition.values[item];
}
