// The kinds of settings, and the members that clients write.
import type { Texts } from '../pricing/pricing.ts';

export type SettingKind = 'shipping-method' | 'tax-rate' | 'discount';

export interface ShippingMethodBody {
  readonly name: Texts;
  readonly countries?: readonly string[];
  readonly price: number;
  readonly freeFrom?: number;
  readonly pricePerKilogram?: number;
  readonly maximumWeight?: number;
  readonly days?: { readonly from: number; readonly to: number };
  readonly taxCategory?: string;
  readonly position?: number;
}

export interface TaxRateBody {
  readonly country: string;
  readonly region?: string;
  readonly category?: string;
  readonly rate: number;
  readonly name: string;
  readonly from?: string;
}

export interface DiscountBody {
  readonly name: string;
  readonly code?: string;
  readonly kind: 'percent' | 'amount' | 'free-shipping';
  readonly value?: number;
  readonly minimum?: number;
  readonly appliesTo?: {
    readonly productIds?: readonly string[];
    readonly brands?: readonly string[];
    readonly categories?: readonly string[];
    readonly groups?: readonly string[];
  };
  readonly from?: string;
  readonly until?: string;
  readonly uses?: number;
  readonly usesPerAccount?: number;
  readonly combinable?: boolean;
}
