// The collection grammar: filters, sort orders, cursors and pages, the same for every resource.
export { PageCache } from './cache/page-cache.ts';
export { type PageRange, type RowChange, type RowValues, toPageRange } from './cache/page-range.ts';
export { matchesNothing } from './grammar/contradiction.ts';
export type { Condition, Criteria, PageBounds, Position } from './grammar/criteria.ts';
export { boolean, choice, decimal, type FieldType, json, text, time, uuid, type Value } from './grammar/field-types.ts';
export { fromBody } from './grammar/from-body.ts';
export { fromQuery } from './grammar/from-query.ts';
export { toBody, toQuery } from './grammar/serialize.ts';
export { type CollectionSpec, type Field, listed, matched, none, ordered } from './grammar/spec.ts';
export type { Input } from './sql/bind-parameters.ts';
export { type Cursors, createCursors } from './sql/cursor.ts';
export {
  type Collection,
  openCollection,
  openPlace,
  type Page,
  type PageRequest,
  queryRows,
  type Row,
  readBoundedPage,
  readPage,
  toBinding,
  tookTooLong,
} from './sql/read-page.ts';
export { selectAll, writeAll } from './sql/row-writer.ts';
export { compile, type Fragments, toFragments } from './sql/statement.ts';
