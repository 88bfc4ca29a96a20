// The door of the collection grammar: filters, sorts, cursors and pages, the same for every resource.
export type { Condition, Criteria } from './criteria.ts';
export { type Cursors, createCursors } from './cursor.ts';
export { boolean, choice, decimal, json, text, time, uuid, type Value } from './field-types.ts';
export { fromBody } from './from-body.ts';
export { fromQuery } from './from-query.ts';
export type { Input } from './parameters.ts';
export { type Collection, openCollection, readPage } from './read-page.ts';
export { selectAll, writeAll } from './row-writer.ts';
export { type CollectionSpec, matched, none, ordered } from './spec.ts';
export { toBody, toQuery } from './spell.ts';
export { compile } from './statement.ts';
