// The members of a product, one line each, in the order of responses and files. Input, rows, views, events, imports,
// exports, the history, and the lists in the contract follow from this table.
import {
  boolean,
  type Field,
  type FieldType,
  listed,
  matched,
  none,
  ordered,
  text,
  time,
  uuid,
} from '@shop/shared/collection';
import { toNode } from '@shop/shared/contract';
import type { Fault } from '@shop/shared/problem';
import type { components } from '../generated.ts';
import {
  amountColumn,
  booleanColumn,
  type ColumnType,
  choiceColumn,
  integerColumn,
  jsonColumn,
  tenthsColumn,
  textColumn,
  weightColumn,
} from './column-types.ts';

/** A valid product: the body of a creation, or a product after a merge patch. */
export type ProductInput = components['schemas']['NewProduct'];

interface Shown extends Pick<Field, 'scansByValue' | 'fewRows' | 'lowCardinality'> {
  /** The column, or an SQL expression for a member that clients do not write. */
  readonly column: string;
  /** The operators of filters; none when absent. */
  readonly filter?: Field['operators'];
  readonly sort?: true;
  /** `staff`: only callers who may change products see the member. */
  readonly audience?: 'staff';
}

/** A member that the shop computes. */
interface Computed extends Shown {
  readonly computed: FieldType;
}

/** A member that clients write. */
interface Written<Member> extends Shown {
  readonly type: ColumnType<Member, unknown>;
  readonly required?: true;
  /** The value of a new product without the member; NULL when there is none. */
  readonly initial?: Member;
  /** `false`: events do not contain the member. */
  readonly inEvents?: false;
  /** Whether a line of an import without the member does not change it. Other members are removed. */
  readonly keptByImport?: true;
}

/** The largest price in minor units, whatever the currency. It is also the bound of the column. */
const maximumPrice = 100_000_000_000;
/** The largest weight in grams. It is also the bound of the column. */
const maximumWeight = 1_000_000;

export const statuses = ['available', 'active', 'backorder', 'pending'] as const;

/** Sort orders for which brand and category each have an index; see migrations/0001 and 0034. */
const scanned = ['createdAt', 'updatedAt', 'price', 'name', 'rating'];
const ratings = { indexedWith: ['price', 'createdAt', 'updatedAt'] };

type Images = NonNullable<ProductInput['images']>;
type Attributes = NonNullable<ProductInput['attributes']>;
type Variant = NonNullable<ProductInput['variant']>;

const images = jsonColumn<Images>([], (list) => list.map(({ url, alt }) => ({ url, alt })), imageFaults);
const attributes = jsonColumn<Attributes>({}, sorted);
const variant = jsonColumn<Variant>(undefined, ({ group, options, lead }) => {
  return { group, options: sorted(options), ...(lead === true && { lead }) };
});

export const productColumns = {
  id: { column: 'id', computed: uuid(), filter: listed, sort: true, fewRows: true },
  name: { column: 'name', type: textColumn(200), required: true, filter: matched, sort: true },
  description: { column: 'description', type: textColumn(5000) },
  brand: { column: 'brand', type: textColumn(100), required: true, filter: matched, scansByValue: scanned },
  category: { column: 'category', type: textColumn(100), required: true, filter: matched, scansByValue: scanned },
  price: { column: 'price_minor', type: amountColumn(maximumPrice), required: true, filter: ordered, sort: true },
  currency: { column: 'NULL', computed: text(3) },
  rating: { column: 'rating_tenths', type: tenthsColumn(50), filter: ordered, sort: true, lowCardinality: ratings },
  status: { column: 'status', type: choiceColumn(statuses), initial: 'available', filter: matched, keptByImport: true },
  inStock: { column: '(stock > reserved)', computed: boolean(), filter: listed },
  stock: { column: 'stock', type: integerColumn(), initial: 0, audience: 'staff', inEvents: false, keptByImport: true },
  lowStockThreshold: {
    column: 'low_stock_threshold',
    type: integerColumn(),
    audience: 'staff',
    inEvents: false,
    keptByImport: true,
  },
  sku: { column: 'external_key', type: textColumn(200), audience: 'staff', filter: listed, fewRows: true },
  images: { column: 'images', type: images, keptByImport: true },
  attributes: { column: 'attributes', type: attributes, keptByImport: true },
  taxCategory: { column: 'tax_category', type: textColumn(50), audience: 'staff', keptByImport: true },
  weight: { column: 'weight_grams', type: weightColumn(maximumWeight), keptByImport: true },
  shipped: { column: 'is_shipped', type: booleanColumn(), keptByImport: true },
  variant: { column: 'variant', type: variant, keptByImport: true },
  createdAt: { column: 'created_at', computed: time(), filter: ordered, sort: true },
  updatedAt: { column: 'updated_at', computed: time(), filter: ordered, sort: true },
  archived: { column: '(archived_status IS NOT NULL)', computed: boolean(), filter: listed, audience: 'staff' },
} as const satisfies {
  readonly [Member in Exclude<keyof ProductInput, 'currency'>]-?: Written<NonNullable<ProductInput[Member]>>;
} & Record<string, Computed | Written<unknown>>;

type Columns = typeof productColumns;

/** A member that clients write. */
export type WrittenMember = {
  [Member in keyof Columns]: Columns[Member] extends { type: unknown } ? Member : never;
}[keyof Columns];

type ColumnOf<Line> = Line extends { type: ColumnType<infer _, infer Column> }
  ? Column | (Line extends { required: true } | { initial: unknown } ? never : null)
  : never;

/** The columns that clients write. The column of `sku` is `external_key`; images and attributes are JSON text. */
export type WrittenRow = {
  readonly [Member in WrittenMember as Columns[Member]['column']]: ColumnOf<Columns[Member]>;
};
export type WrittenColumn = keyof WrittenRow;

/** The lines of the members that clients write, in the order of the table. */
export const writtenLines = Object.entries<Computed | Written<unknown>>(productColumns).flatMap(([member, line]) =>
  'type' in line ? [{ ...line, member: member as WrittenMember, column: line.column as WrittenColumn }] : [],
);

/** The columns that clients write, in the order of `columnValues`. */
export const writtenColumns = writtenLines.map(({ column }) => column);

/** Returns the fields of a collection for all members, or for those that customers see. */
export function productFields(currency: string, audience: 'customers' | 'staff'): Record<keyof Columns, Field> {
  const lines = Object.entries<Computed | Written<unknown>>(productColumns)
    .filter(([, line]) => audience === 'staff' || line.audience !== 'staff')
    .map(([member, line]): [string, Field] => {
      const {
        column,
        filter: operators = none,
        sort: sortable = false,
        scansByValue,
        fewRows = false,
        lowCardinality,
      } = line;
      const isWritten = 'type' in line;
      const type = isWritten ? line.type.field(currency) : line.computed;
      const nullable = isWritten && line.required !== true && line.initial === undefined;
      const range = isWritten ? line.type.range : undefined;
      const further = {
        ...(scansByValue && { scansByValue }),
        ...(range && { range }),
        ...(lowCardinality && { lowCardinality }),
      };
      return [member, { type, operators, column, sortable, nullable, fewRows, ...further }];
    });
  return Object.fromEntries(lines) as Record<keyof Columns, Field>;
}

function sorted(members: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function imageFaults(list: unknown): Fault[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((image, index): Fault[] => {
    const { url } = toNode(image);
    const address = typeof url === 'string' && url.startsWith('https://') ? URL.parse(url) : undefined;
    if (address === undefined || (address !== null && address.username === '' && address.password === '')) return [];
    return [{ pointer: `/${index}/url`, detail: 'must be an https URL without a user and a password' }];
  });
}
