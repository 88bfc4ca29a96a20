import type { PricingInput, PricingSettings } from './pricing.ts';

/** Where an order is sent, and so taxed. Both are absent when neither the order nor the settings name a country. */
export interface Destination {
  readonly country?: string;
  /** In lower case. */
  readonly region?: string;
}

/** Returns the place of the address. An address without a country counts as one in the country of the shop. */
export function destinationOf({ address }: Pick<PricingInput, 'address'>, settings: PricingSettings): Destination {
  const country = address?.country?.trim().toUpperCase() || settings.country;
  const region = plainRegion(address?.region);
  return { ...(country && { country }), ...(region && { region }) };
}

/** Returns a region in the form in which regions are compared. */
export function plainRegion(region: string | undefined): string | undefined {
  return region?.trim().toLowerCase();
}
