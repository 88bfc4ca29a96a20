// Reads the environment of the orders service as one frozen object. All configuration errors are reported together.
import {
  ConfigError,
  type Environment,
  integer,
  keyList,
  oneOf,
  optional,
  readConfig,
  readTogether,
  string,
  url,
} from '@shop/shared/runtime';
import { callerVariables, serviceVariables } from '@shop/shared/service';
import { country, currency } from '@shop/shared/shop';
import type { InvoiceSettings } from './invoices/invoice.ts';

const shopCurrency = currency('SHOP_CURRENCY', 'EUR');

const taxVariables = {
  /** Whether the shop calculates taxes, and whether prices contain them. */
  taxes: oneOf('TAXES', ['off', 'included', 'added'], 'off'),
  /** The country of orders without an address. */
  country: optional(country('SHOP_COUNTRY')),
};

/** Whether the price of shipping is paid back when everything that was sent comes back. */
const returnShipping = oneOf('RETURN_SHIPPING', ['keep', 'refund'], 'keep');

const invoiceVariables = {
  /** The name of the seller on invoices; the shop writes none without it. */
  sellerName: optional(string('SELLER_NAME')),
  /** The lines of the address, separated by semicolons. */
  sellerAddress: optional({
    ...string('SELLER_ADDRESS'),
    parse: (value: string) => value.split(';').flatMap((line) => line.trim() || []),
  }),
  sellerTaxId: optional(string('SELLER_TAX_ID')),
  /** Years after which the buyer is removed from an invoice. */
  invoiceYears: integer('INVOICE_YEARS', { min: 1, max: 100, fallback: 10 }),
  invoicePrefix: {
    ...string('INVOICE_PREFIX', ''),
    parse(value: string) {
      if (/^[A-Za-z0-9._-]{0,20}$/.test(value)) return value;
      throw new Error('must have at most 20 letters, digits, full stops, underscores and hyphens');
    },
  },
};

export function readEnvironment(environment: Environment) {
  return readTogether(environment, { settings: readVariables, country: requireCountry }).settings;
}

function readVariables(environment: Environment) {
  return readConfig(environment, {
    ...serviceVariables,
    ...callerVariables,
    cursorKeys: keyList('CURSOR_KEYS'),
    catalogueUrl: url('CATALOGUE_URL', ['http', 'https']),
    currency: shopCurrency,
    pendingHours: integer('ORDER_PENDING_HOURS', { min: 0, max: 87_600, fallback: 72 }),
    ...taxVariables,
    ...invoiceVariables,
    payments: oneOf('PAYMENTS', ['off', 'required'], 'off'),
    /** The maximum number of unprocessed orders of one account; 0 for no limit. */
    holdOrders: integer('HOLD_ORDERS', { min: 0, max: 1_000_000, fallback: 10 }),
    holdUnits: integer('HOLD_UNITS', { min: 0, max: 1_000_000, fallback: 100 }),
    /**
     * The maximum number of units that all unverified accounts of a client network may reserve together; 0 for no
     * limit.
     */
    holdNetworkUnits: integer('HOLD_NETWORK_UNITS', { min: 0, max: 1_000_000, fallback: 60 }),
    /** Whether an account needs a verified e-mail address to place an order. */
    orderEmailVerification: oneOf('ORDER_EMAIL_VERIFICATION', ['off', 'required'], 'off'),
    /** Days after the delivery in which customers can request a return; 0 when they cannot. */
    returnDays: integer('RETURN_DAYS', { min: 0, max: 3_650, fallback: 14 }),
    returnShipping,
    paymentDueMinutes: integer('PAYMENT_DUE_MINUTES', { min: 1, max: 525_600, fallback: 60 }),
  });
}

/** @throws ConfigError when the shop calculates taxes and has no country */
function requireCountry(environment: Environment): void {
  const { taxes, country } = readConfig(environment, taxVariables);
  if (taxes !== 'off' && country === undefined) {
    throw new ConfigError([`SHOP_COUNTRY is required when TAXES is ${taxes}`]);
  }
}

/** Returns the configuration of the operator's functions. */
export function readCommandConfig(environment: Environment) {
  return readConfig(environment, {
    databaseUrl: serviceVariables.databaseUrl,
    currency: shopCurrency,
    returnShipping,
    ...invoiceVariables,
  });
}

/** Returns the settings of invoices in a configuration. */
export function toInvoiceSettings({
  sellerName,
  sellerAddress,
  sellerTaxId,
  invoicePrefix,
}: ReturnType<typeof readCommandConfig>): InvoiceSettings {
  if (sellerName === undefined) return { seller: undefined, prefix: invoicePrefix };
  const seller = {
    name: sellerName,
    ...(sellerAddress && { address: sellerAddress }),
    ...(sellerTaxId !== undefined && { taxId: sellerTaxId }),
  };
  return { seller, prefix: invoicePrefix };
}
