// The kinds of settings: the members that clients write, and the rules that a schema cannot express.
import { decimal, type FieldType, time } from '@shop/shared/collection';
import { toNode } from '@shop/shared/contract';
import type { Fault } from '@shop/shared/problem';
import { countryExpected, findDecimals, isCountry } from '@shop/shared/shop';
import type { components } from '../generated.ts';

type Schemas = components['schemas'];
export type ShippingMethodBody = Schemas['NewShippingMethod'];
export type TaxRateBody = Schemas['NewTaxRate'];
export type DiscountBody = Schemas['NewDiscount'];

/** The body of each kind, as the API shows and stores it. */
export interface SettingBodies {
  readonly 'shipping-method': ShippingMethodBody;
  readonly 'tax-rate': TaxRateBody;
  readonly discount: DiscountBody;
}
export type SettingKind = keyof SettingBodies;
export type SettingBody = SettingBodies[SettingKind];

interface Member {
  /** The type of a number or time whose precision a schema cannot express. */
  readonly type?: FieldType;
  /** The largest value, in the units of `type`. */
  readonly maximum?: number;
  /** The value that is stored when the member is absent. */
  readonly initial?: unknown;
}

export interface KindRules {
  /** The path of the collection. */
  readonly path: string;
  /** The operation whose body the contract defines for a whole setting. */
  readonly creation: 'createShippingMethod' | 'createTaxRate' | 'createDiscount';
  /** The members that clients write, in the order of responses. */
  readonly members: Readonly<Record<string, Member>>;
  /** Returns the faults between several members, and those of texts. The body may violate the contract. */
  readonly faultsOf: (body: Readonly<Record<string, unknown>>) => readonly Fault[];
}

/** The largest amount in minor units. It is that of the price of a product. */
const maximumAmount = 100_000_000_000;

/** @param currency of the shop, ISO 4217 */
export function openSettingKinds(currency: string): Readonly<Record<SettingKind, KindRules>> {
  const money: Member = { type: decimal(findDecimals(currency)), maximum: maximumAmount };
  const percent: Member = { type: decimal(2), maximum: 10_000 };
  const moment: Member = { type: time() };
  return {
    'shipping-method': {
      path: '/v1/shipping-methods',
      creation: 'createShippingMethod',
      members: {
        name: {},
        countries: {},
        price: money,
        freeFrom: money,
        pricePerKilogram: money,
        maximumWeight: { type: decimal(3) },
        days: {},
        taxCategory: { initial: 'standard' },
        position: { initial: 0 },
      } satisfies Record<keyof ShippingMethodBody, Member>,
      faultsOf: ({ name, countries, days }) => [
        ...languageFaults(toNode(name)),
        ...(Array.isArray(countries) ? countries : []).flatMap((code, index) => {
          return countryFaults(`/countries/${index}`, code);
        }),
        ...rangeFaults('/days/to', toNode(days), 'must not be less than from'),
      ],
    },
    'tax-rate': {
      path: '/v1/tax-rates',
      creation: 'createTaxRate',
      members: {
        country: {},
        region: {},
        category: { initial: 'standard' },
        rate: { type: decimal(4) },
        name: {},
        from: moment,
      } satisfies Record<keyof TaxRateBody, Member>,
      faultsOf: ({ country }) => countryFaults('/country', country),
    },
    discount: {
      path: '/v1/discounts',
      creation: 'createDiscount',
      members: {
        name: {},
        code: {},
        kind: {},
        value: {},
        minimum: money,
        appliesTo: {},
        from: moment,
        until: moment,
        uses: {},
        usesPerAccount: {},
        combinable: { initial: false },
      } satisfies Record<keyof DiscountBody, Member>,
      faultsOf: ({ kind, value, from, until }) => [
        ...(kind === 'free-shipping'
          ? value === undefined
            ? []
            : [{ pointer: '/value', detail: 'must be absent for free-shipping' }]
          : kind === 'percent' || kind === 'amount'
            ? value === undefined
              ? [{ pointer: '/value', detail: `is required for ${kind}` }]
              : valueFaults('/value', value, kind === 'percent' ? percent : money)
            : []),
        ...rangeFaults('/until', { from: millisecondsOf(from), to: millisecondsOf(until) }, 'must be after from', true),
      ],
    },
  };
}

/** Returns the faults of a whole body that its schema cannot express. */
export function settingFaults({ members, faultsOf }: KindRules, body: unknown): Fault[] {
  const given = toNode(body);
  const ofMembers = Object.entries(members).flatMap(([name, member]) => {
    const value = given[name];
    return value === undefined ? [] : valueFaults(`/${name}`, value, member);
  });
  return [...ofMembers, ...faultsOf(given)];
}

/** Returns a valid body as it is stored: its members in their order, with initial values, and times in UTC. */
export function toStoredBody({ members }: Pick<KindRules, 'members'>, body: object): Record<string, unknown> {
  const given = toNode(body);
  const stored = Object.entries(members).map(([name, { type, initial }]) => {
    const value = given[name] ?? initial;
    const read = type?.fromJson(value);
    return [name, type === undefined || read === undefined ? value : type.toJson(read)];
  });
  return Object.fromEntries(stored.filter(([, value]) => value !== undefined));
}

function valueFaults(pointer: string, value: unknown, { type, maximum = Number.POSITIVE_INFINITY }: Member): Fault[] {
  if (type === undefined) return [];
  const read = type.fromJson(value);
  if (read === undefined) return [{ pointer, detail: `must be ${type.expects}` }];
  return Number(read) > maximum ? [{ pointer, detail: `must be <= ${type.toText(maximum)}` }] : [];
}

function countryFaults(pointer: string, code: unknown): Fault[] {
  return typeof code !== 'string' || isCountry(code) ? [] : [{ pointer, detail: `must be ${countryExpected}` }];
}

function languageFaults(texts: Readonly<Record<string, unknown>>): Fault[] {
  return Object.entries(texts).flatMap(([tag, text]) =>
    typeof text === 'string' && text.trim() === '' ? [{ pointer: `/name/${tag}`, detail: 'must not be blank' }] : [],
  );
}

/** @param isOpen whether the two ends must not be equal either */
function rangeFaults(
  pointer: string,
  { from, to }: Readonly<Record<string, unknown>>,
  detail: string,
  isOpen = false,
): Fault[] {
  if (typeof from !== 'number' || typeof to !== 'number') return [];
  return from < to || (!isOpen && from === to) ? [] : [{ pointer, detail }];
}

function millisecondsOf(text: unknown): number | undefined {
  const milliseconds = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}
