// The fields of an address, and an address as people write it.
import type { components } from '@shop/client';
import { countryName, countrySelect } from './countries.ts';
import { h } from './dom.ts';
import { field, labelled, type Values } from './forms.ts';
import { t } from './texts/customers.ts';

export type ShippingAddress = components['schemas']['Address'];

const parts = ['recipient', 'street_address', 'postal_code', 'city', 'region', 'country'] as const;
const prefix = 'shipping_address/';

/**
 * Returns the fields.
 * @param hasRecipient whether the address says who gets the parcel; that of an account is its holder's
 */
export function addressFields(given: ShippingAddress, { hasRecipient = true } = {}): HTMLElement {
  const text = (part: (typeof parts)[number], label: string, autocomplete: string, hint?: string, required = true) =>
    field(`${prefix}${part}`, label, {
      value: given[part],
      autocomplete,
      required,
      ...(hint !== undefined && { hint }),
    });
  return h('div', { class: 'address-fields' }, [
    hasRecipient && text('recipient', t.recipient, 'name', t.recipientHint, false),
    text('street_address', t.street, 'street-address'),
    text('postal_code', t.postalCode, 'postal-code'),
    text('city', t.city, 'address-level2'),
    text('region', t.region, 'address-level1', t.regionHint, false),
    labelled(countrySelect(`${prefix}country`, given.country), t.country),
  ]);
}

/** Returns the address of the fields, without empty parts; undefined when all are empty. */
export function addressOf(values: Values): ShippingAddress | undefined {
  const filled = parts
    .map((part) => [part, values[`${prefix}${part}`] ?? ''] as const)
    .filter(([, text]) => text !== '');
  return filled.length === 0 ? undefined : Object.fromEntries(filled);
}

/** Returns the change of an account's address. A part that is left out would keep its former text. */
export function addressChange(values: Values) {
  if (addressOf(values) === undefined) return null;
  const kept = parts.filter((part) => part !== 'recipient');
  return Object.fromEntries(kept.map((part) => [part, values[`${prefix}${part}`] || null]));
}

/** Shows an address in lines. */
export function addressLines(address: ShippingAddress): HTMLElement {
  const { recipient, street_address, postal_code, city, region, country } = address;
  const place = [postal_code, city].filter((part) => part !== undefined).join(' ');
  const lines = [recipient, street_address, place, region, country && countryName(country)];
  const shown = lines.filter((line) => line !== undefined && line !== '');
  return h(
    'address',
    {},
    shown.map((line) => h('span', { dir: 'auto' }, line)),
  );
}
