// Random criteria of the sample collection, in the canonical form that the check returns.
import fc from 'fast-check';
import { type Condition, type Criteria, fromBody, toBody, type Value } from '../../src/collection/index.ts';
import { sample, statuses } from './sample.ts';

/** Text that a request can contain: no NUL, no lone surrogate, NFC. */
export const anyText = fc
  .string({ unit: 'binary', maxLength: 40 })
  .map((text) => text.replaceAll('\0', '').normalize('NFC'))
  .filter((text) => text.isWellFormed());

const awkward = fc.constantFrom('Smith, Sons', 'a:b', '"', '\\', '\\"', ' a ', '', 'ne:x', 'gte:', ',', '__proto__');
const values: Readonly<Record<string, fc.Arbitrary<Value>>> = {
  name: fc.oneof(anyText, awkward),
  brand: fc.oneof(fc.constantFrom('A', 'B', 'C'), anyText, awkward),
  price: fc.integer({ min: -50, max: 2000 }),
  rating: fc.integer({ min: 0, max: 50 }),
  status: fc.constantFrom(...statuses),
  createdAt: fc.integer({ min: 0, max: 2_000 }).map((ms) => new Date(Date.UTC(2026, 10, 21) + ms).toISOString()),
};

/** Returns conditions that may exclude each other. */
function conditions(pool = values, maximum = 4): fc.Arbitrary<Condition[]> {
  const fields = Object.keys(pool);
  const one = fc.constantFrom(...fields).chain((field): fc.Arbitrary<Condition> => {
    const value = pool[field] ?? fc.constant('');
    const operators = sample.fields[field]?.operators ?? [];
    return fc
      .constantFrom(...operators)
      .chain(
        (operator): fc.Arbitrary<Condition> =>
          operator === 'in'
            ? fc.uniqueArray(value, { minLength: 2, maxLength: 12 }).map((list) => ({ field, operator, values: list }))
            : value.map((one) => ({ field, operator, value: one })),
      );
  });
  return fc.uniqueArray(one, { maxLength: maximum, selector: ({ field, operator }) => `${field} ${operator}` });
}

const sorts = fc.uniqueArray(
  fc.record({
    field: fc.constantFrom('createdAt', 'price', 'name', 'rating', 'id'),
    direction: fc.constantFrom('asc' as const, 'desc' as const),
  }),
  { minLength: 0, maxLength: 3, selector: ({ field }) => field },
);

/** Criteria as a search body expresses them, including criteria that exclude every row. */
export function criteria(groups = 3, pool = values): fc.Arbitrary<Criteria> {
  return fc
    .record({
      conditions: conditions(pool),
      or: fc.array(
        conditions(pool, 3).filter((group) => group.length > 0),
        { maxLength: groups },
      ),
      sort: sorts,
      limit: fc.integer({ min: 1, max: 100 }),
      fields: fc.option(fc.uniqueArray(fc.constantFrom('id', 'name', 'price', 'rating'), { minLength: 1 }), {
        nil: undefined,
      }),
      cursor: fc.constant(undefined),
    })
    .map((written) => {
      const body = toBody(sample, written);
      if (written.sort.length === 0) delete body.sort;
      try {
        return fromBody(sample, body);
      } catch {
        return undefined;
      }
    })
    .filter((checked) => checked !== undefined);
}
