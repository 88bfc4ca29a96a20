// The door of the collection grammar: filters, sorts, cursors and pages, the same for every resource.
export type { Condition, Criteria } from './criteria.ts';
export { type Cursors, createCursors, type Position } from './cursor.ts';
export { boolean, choice, decimal, type FieldType, json, text, time, uuid, type Value } from './field-types.ts';
export { fromBody } from './from-body.ts';
export { fromQuery, type Query } from './from-query.ts';
export type { Input, Scope } from './parameters.ts';
export { type Collection, openCollection, type Page, type PageRequest, readPage } from './read-page.ts';
export { selectAll, writeAll } from './row-writer.ts';
export {
  type CollectionSpec,
  type Direction,
  type Field,
  matched,
  none,
  type Operator,
  ordered,
  type SortCriterion,
} from './spec.ts';
export { toBody, toQuery } from './spell.ts';
export { compile, type Statement } from './statement.ts';
