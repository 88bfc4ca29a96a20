// A collection with every kind of field, ties and absent values, for the tests of the grammar.
import {
  type CollectionSpec,
  choice,
  decimal,
  matched,
  ordered,
  text,
  time,
  uuid,
} from '../../src/collection/index.ts';

export const statuses = ['available', 'pending', 'backorder', 'active'] as const;

export const sample: CollectionSpec<unknown> = {
  name: 'samples',
  from: 'samples',
  fields: {
    id: { type: uuid(), operators: [], column: 'id', sortable: true },
    name: { type: text(200), operators: matched, column: 'name', sortable: true },
    brand: { type: text(100), operators: matched, column: 'brand', scansByValue: ['createdAt', 'price'] },
    price: { type: decimal(2), operators: ordered, column: 'price_minor', sortable: true },
    rating: {
      type: decimal(1),
      operators: ordered,
      column: 'rating_tenths',
      sortable: true,
      nullable: true,
      range: { from: 0, to: 50 },
      lowCardinality: { indexedWith: ['price', 'createdAt'] },
    },
    status: { type: choice(statuses), operators: matched, column: 'status' },
    createdAt: { type: time(), operators: ordered, column: 'created_at', sortable: true },
  },
  defaultSort: [
    { field: 'createdAt', direction: 'desc' },
    { field: 'id', direction: 'desc' },
  ],
};
