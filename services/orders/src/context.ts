// The context that main.ts gives to the operations of orders.
import type { Encryption } from '@shop/shared/auth';
import type { IdempotencyContext, InternalClient, TypedOperation } from '@shop/shared/http';
import type { Log } from '@shop/shared/runtime';
import type { operations } from './generated.ts';
import type { InvoiceSettings } from './invoices/invoice.ts';
import type { HoldSettings } from './order/hold-limits.ts';
import type { Orders } from './order/order.ts';
import type { Returns } from './returns/return.ts';
import type { SettingsReader } from './settings/pricing-settings.ts';
import type { Settings } from './settings/settings.ts';

export interface OrdersContext extends IdempotencyContext {
  readonly orders: Orders;
  readonly returns: Returns;
  readonly invoices: InvoiceSettings;
  /** Whether the price of shipping is kept when everything that was sent comes back. */
  readonly keepShipping: boolean;
  /** Days after the delivery in which customers can request a return; 0 when they cannot. */
  readonly returnDays: number;
  /** The settings of prices, as staff see and change them. */
  readonly settings: Settings;
  readonly pricingSettings: SettingsReader;
  readonly catalogue: InternalClient;
  /** Encrypts quotes. */
  readonly quotes: Encryption;
  readonly log: Log;
  readonly holdSettings: HoldSettings;
  /**
   * The maximum number of units that the unverified accounts of a client network may reserve together; 0 for no limit.
   */
  readonly holdNetworkUnits: number;
  /** Whether only accounts with a verified e-mail address place orders. */
  readonly needsVerifiedEmail: boolean;
  /** Minutes within which a new order has to be paid; undefined when orders need no payment. */
  readonly paymentDueMinutes: number | undefined;
}

/** The part of the context that reading and advancing orders needs. Placing an order also needs the catalogue. */
export type OrderStore = Omit<
  OrdersContext,
  | 'settings'
  | 'pricingSettings'
  | 'catalogue'
  | 'quotes'
  | 'log'
  | 'returnDays'
  | 'holdSettings'
  | 'holdNetworkUnits'
  | 'needsVerifiedEmail'
  | 'paymentDueMinutes'
>;

/** The function of an operation, with the types of its contract. */
export type Operation<Id extends keyof operations, Needed = OrdersContext> = TypedOperation<operations[Id], Needed>;
