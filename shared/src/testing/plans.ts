// The plans by which PostgreSQL reads the pages of a collection, for tests of indexes.
import pg from 'pg';
import { type CollectionSpec, type Criteria, compile, type Input } from '../collection/index.ts';

export interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}

/**
 * Returns the plan that is used in production: a generic plan for prepared statements, a custom plan for the others.
 */
async function explain(client: pg.Client, spec: CollectionSpec<never>, input: Input): Promise<Plan> {
  const { text, stablePlan, values } = compile(spec, input);
  await client.query(`SET plan_cache_mode = ${stablePlan ? 'force_generic_plan' : 'force_custom_plan'}`);
  const given = values(input);
  const literals = given.map((value) =>
    Array.isArray(value)
      ? `ARRAY[${value.map((each) => pg.escapeLiteral(String(each)))}]`
      : pg.escapeLiteral(String(value)),
  );
  const casts = [...text.matchAll(/\$(\d+)::([a-z]+(?:\[\])?)/g)];
  const types = given.map((_, index) => casts.find(([, number]) => Number(number) === index + 1)?.[2] ?? 'text');
  await client.query(`PREPARE asked ${types.length > 0 ? `(${types.join()})` : ''} AS ${text}`);
  const parameters = literals.map((each, index) => `${each}::${types[index]}`);
  const call = `EXECUTE asked ${parameters.length > 0 ? `(${parameters.join()})` : ''}`;
  const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${call}`);
  await client.query('DEALLOCATE asked');
  return rows[0]['QUERY PLAN'][0].Plan;
}

/** Returns the plans of the first page and, when there are rows, of a page from the middle. */
export async function plansOf(
  client: pg.Client,
  spec: CollectionSpec<never>,
  criteria: Criteria,
  scope: Readonly<Record<string, string>> = {},
): Promise<Plan[]> {
  const first = { criteria, position: undefined, scope };
  const far = { ...first, criteria: { ...criteria, limit: 5_000 } };
  const statement = compile(spec, far);
  const { rows } = await client.query<(string | null)[]>({
    text: statement.text,
    values: statement.values(far),
    rowMode: 'array',
    types: { getTypeParser: () => (text: string) => text },
  });
  const middle = rows[Math.floor(rows.length / 2)];
  if (middle === undefined) return [await explain(client, spec, first)];
  const position = criteria.sort.map(
    ({ field }) => middle[statement.columns.get(spec.fields[field]?.column ?? '') ?? -1] ?? null,
  );
  return [await explain(client, spec, first), await explain(client, spec, { ...first, position })];
}

/** Returns all nodes of a plan. */
export function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}
