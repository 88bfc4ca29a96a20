// The members of an account that the customer or staff writes, one line each, without e-mail address and password. Rows,
// views, events, the export, the list for staff, and the lists in the contract are derived from this table.
import { type Field, type FieldType, json, none, text } from '@shop/shared/collection';
import { type DataType, DataTypes } from 'sequelize';
import type { components } from '../generated.ts';

type Account = components['schemas']['Account'];
type ShippingAddress = components['schemas']['ShippingAddress'];
export type TaxId = components['schemas']['TaxId'];

/** A member. Its column has the same name, and its attribute in models and events the name in camelCase. */
interface Line<Member> {
  readonly type: DataType;
  readonly required?: true;
  /** How events have the member without a value: not at all, or as null. Without this, no event has the member. */
  readonly inEvents?: 'absent' | 'null';
  /** The type of the field in the list of accounts for staff; absent when staff does not see the member. */
  readonly forStaff?: FieldType;
  /** Converts the column for a response. */
  toMember?(column: Member): Member;
}

type WrittenMember = Exclude<keyof Account, 'id' | 'email' | 'email_verified' | 'pending_email' | 'erase_at'>;

export const accountColumns = {
  name: { type: DataTypes.TEXT, required: true, inEvents: 'absent', forStaff: text(200) },
  phone_number: { type: DataTypes.TEXT, inEvents: 'null' },
  shipping_address: { type: DataTypes.JSONB, toMember: inOrder },
  locale: { type: DataTypes.TEXT, inEvents: 'absent', forStaff: text(12) },
  // Only staff writes it (set-tax-id.ts).
  tax_id: { type: DataTypes.JSONB, inEvents: 'null', forStaff: json(), toMember: toTaxId },
} as const satisfies { readonly [Member in WrittenMember]-?: Line<NonNullable<Account[Member]>> };

type Columns = typeof accountColumns;
type Camel<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name;

/** The attributes of the members in a model. */
export type ProfileRow = {
  [Member in WrittenMember as Camel<Member>]:
    | NonNullable<Account[Member]>
    | (Columns[Member] extends { required: true } ? never : null);
};
export type EventAttribute = {
  [Member in WrittenMember]: Columns[Member] extends { inEvents: string } ? Camel<Member> : never;
}[WrittenMember];

const lines = Object.entries<Line<unknown>>(accountColumns).map(([member, line]) => ({
  ...line,
  member: member as WrittenMember,
  attribute: toAttribute(member) as keyof ProfileRow,
}));

/** Returns the name of a member in models and events: `phone_number` is `phoneNumber`. */
export function toAttribute(member: string): string {
  return member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

export const profileAttributes = Object.fromEntries(
  lines.map(({ attribute, type, required = false }) => [attribute, { type, allowNull: !required }]),
) as Record<keyof ProfileRow, { type: DataType; allowNull: boolean }>;

/** Returns the attributes of a valid input. */
export function toProfileRow(input: Pick<Account, WrittenMember>): ProfileRow {
  return Object.fromEntries(lines.map(({ member, attribute }) => [attribute, input[member] ?? null])) as ProfileRow;
}

/** Returns the members of an account; those without a value are absent. */
export function toProfile(row: ProfileRow): Pick<Account, WrittenMember> {
  const members = lines.flatMap(({ member, attribute, toMember }) => {
    const value = row[attribute];
    return value === null ? [] : [[member, toMember === undefined ? value : toMember(value)]];
  });
  return Object.fromEntries(members) as Pick<Account, WrittenMember>;
}

const eventLines = lines.filter(({ inEvents }) => inEvents !== undefined);

/** The SELECT list of the attributes that events contain. */
export const eventColumns = eventLines.map(({ member, attribute }) => `${member} AS "${attribute}"`).join(', ');

/** Returns the members in events. */
export function toEventMembers(row: Pick<ProfileRow, EventAttribute>) {
  const members = eventLines.flatMap(({ attribute, inEvents, toMember }) => {
    const value = row[attribute as EventAttribute];
    if (value === null) return inEvents === 'null' ? [[attribute, null]] : [];
    return [[attribute, toMember === undefined ? value : toMember(value)]];
  });
  return Object.fromEntries(members) as { [Attribute in EventAttribute]: NonNullable<ProfileRow[Attribute]> };
}

/** The fields of the list of accounts for staff. */
export const staffFields: Readonly<Record<string, Field>> = Object.fromEntries(
  lines.flatMap(({ member, forStaff, required = false }) =>
    forStaff === undefined ? [] : [[member, { type: forStaff, operators: none, column: member, nullable: !required }]],
  ),
);

const addressMembers = ['street_address', 'city', 'region', 'postal_code', 'country'] as const;

/** Writes the members in a fixed order, whatever their order in the request and in the database. */
function inOrder(address: ShippingAddress): ShippingAddress {
  return Object.fromEntries(
    addressMembers.flatMap((name) => (address[name] === undefined ? [] : [[name, address[name]]])),
  );
}

/** Writes the members in the order of the contract, whatever their order in the database. */
function toTaxId({ country, value }: TaxId): TaxId {
  return { country, value };
}
