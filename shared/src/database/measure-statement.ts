// Measures the duration of every statement, and traces it as part of its request.
import type pg from 'pg';
import { type Attributes, inSpan, instruments, isMeasuring, isTraced, SpanKind } from '../telemetry/index.ts';

const longestText = 500;

/** Operation → attributes of its metrics. An operation is the first word of a statement, and there are few of them. */
const known = new Map<string, Attributes>();

/** Runs and measures a statement. Its SQL text comes from the source code and contains no values. */
export async function measureStatement<T>(text: string, run: () => Promise<T>): Promise<T> {
  const traced = isTraced();
  if (!traced && !isMeasuring()) return run();
  const operation = operationOf(text);
  const attributes = attributesOf(operation);
  const began = performance.now();
  try {
    if (!traced) return await run();
    const described = { ...attributes, 'db.query.text': text.slice(0, longestText) };
    return await inSpan(operation, SpanKind.CLIENT, described, run);
  } finally {
    instruments.statements.record((performance.now() - began) / 1000, attributes);
  }
}

/** Runs a whole transaction, from taking its connection to its COMMIT. */
export function measureTransaction<T>(run: () => Promise<T>): Promise<T> {
  return measureStatement('TRANSACTION', run);
}

/** Returns the pool with a measurement of every query that is awaited. */
export function measured(pool: pg.Pool): pg.Pool {
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<unknown>;
  pool.query = ((...given: unknown[]) =>
    measureStatement(textOf(given[0]), () => query(...given))) as typeof pool.query;
  return pool;
}

function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement;
  const { text } = statement as { text?: unknown };
  return typeof text === 'string' ? text : '';
}

/** Returns the first word of a statement, such as `SELECT` or `WITH`. */
function operationOf(text: string): string {
  return /^[\s(]*([a-zA-Z]+)/.exec(text)?.[1]?.toUpperCase() ?? 'OTHER';
}

function attributesOf(operation: string): Attributes {
  const found = known.get(operation);
  if (found !== undefined) return found;
  const attributes = { 'db.system.name': 'postgresql', 'db.operation.name': operation };
  if (known.size < 50) known.set(operation, attributes);
  return attributes;
}
