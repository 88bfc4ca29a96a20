// What staff configured for prices, as the calculation of prices reads it.
import { decimal } from '@shop/shared/collection';
import type { Database } from '@shop/shared/database';
import { findDecimals } from '@shop/shared/shop';
import type { Discount, PricingSettings, ShippingMethod, TaxRate } from '../pricing/pricing.ts';
import { toComparedCode } from './discount-code.ts';
import { isUsedUp, type Uses, usesColumns } from './discount-uses.ts';
import type { DiscountBody, SettingKind, ShippingMethodBody, TaxRateBody } from './setting-kinds.ts';

export interface SettingsReader {
  /**
   * Returns the shipping methods, tax rates and discounts without a code. A change by another process is in the result
   * at most a second after its commit. Without any setting, the lists are empty and the version is 0.
   */
  current(): Promise<PricingSettings>;
  /**
   * Returns the discount with a code, which is compared without regard to case and blanks, and the ids of those among
   * it and `others` that are used up, by the account or by all.
   */
  findDiscount(
    code: string | undefined,
    others: readonly Discount[],
    accountId: string | undefined,
  ): Promise<{ readonly discount: Discount | undefined; readonly usedUp: ReadonlySet<string> }>;
}

/** The configuration that the settings are read with. */
export interface PricingConfig {
  readonly currency: string;
  readonly taxes: PricingSettings['taxes'];
  readonly country: string | undefined;
}

/** Milliseconds for which a version that was read is used without asking the database. */
const freshFor = 1_000;

interface Row {
  readonly version: number;
  /** NULL when there is no setting. */
  readonly id: string | null;
  readonly kind: SettingKind;
  readonly body: ShippingMethodBody & TaxRateBody & DiscountBody;
}

/** One statement, so that the settings belong to the version. */
const allSettings = `
  SELECT version.version, id, kind, body FROM pricing_settings_version AS version
  LEFT JOIN pricing_settings AS setting ON archived_at IS NULL AND code IS NULL ORDER BY id`;

/** The inner subquery hides the number of ids from the planner. Otherwise PostgreSQL plans each execution. */
const discountOfCode = {
  name: 'discount-of-code',
  text: `SELECT id, body, ${usesColumns('id', '$3')} FROM (
      SELECT id, body FROM pricing_settings WHERE code = $1 AND archived_at IS NULL
      UNION ALL SELECT unnest((SELECT $2::uuid[])), NULL
    ) AS discount`,
};

interface DiscountRow extends Uses {
  readonly id: string;
  /** NULL for one of the others. */
  readonly body: DiscountBody | null;
}

export function openPricingSettings({ pool }: Pick<Database, 'pool'>, config: PricingConfig): SettingsReader {
  const { currency, taxes, country } = config;
  const read = createReader(currency);
  let known: PricingSettings | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<PricingSettings> | undefined;

  async function readCurrent(): Promise<PricingSettings> {
    const startedAt = performance.now();
    const { rows: versions } = await pool.query<{ version: number }>({
      name: 'pricing-settings-version',
      text: 'SELECT version FROM pricing_settings_version',
    });
    if (known === undefined || known.version !== (versions[0]?.version ?? 0)) {
      const { rows } = await pool.query<Row>({ name: 'pricing-settings', text: allSettings });
      const bodies = (kind: SettingKind) =>
        rows.flatMap(({ id, kind: each, body }) => (id !== null && each === kind ? [{ id, body }] : []));
      known = {
        version: rows[0]?.version ?? 0,
        taxes,
        ...(country !== undefined && { country }),
        shippingMethods: bodies('shipping-method').map(({ id, body }) => read.shippingMethod(id, body)),
        taxRates: bodies('tax-rate').map(({ id, body }) => read.taxRate(id, body)),
        discounts: bodies('discount').map(({ id, body }) => read.discount(id, body)),
      };
    }
    readAt = startedAt;
    return known;
  }

  return {
    async current() {
      if (known !== undefined && performance.now() - readAt < freshFor) return known;
      reading ??= readCurrent().finally(() => {
        reading = undefined;
      });
      return reading;
    },
    async findDiscount(code, others, accountId) {
      const { rows } = await pool.query<DiscountRow>({
        ...discountOfCode,
        values: [code === undefined ? null : toComparedCode(code), others.map(({ id }) => id), accountId ?? null],
      });
      const found = rows.find(({ body }) => body !== null);
      const discount = found?.body ? read.discount(found.id, found.body) : undefined;
      const usedUp = [...others, ...(discount ? [discount] : [])].filter((each) =>
        rows.some((row) => row.id === each.id && isUsedUp(each, row)),
      );
      return { discount, usedUp: new Set(usedUp.map(({ id }) => id)) };
    },
  };
}

/** Returns the functions that convert the bodies of settings, which have passed the contract, to minor units. */
function createReader(currency: string) {
  const money = decimal(findDecimals(currency));
  const weight = decimal(3);
  const minor = (amount: number): number => Number(money.fromJson(amount));
  return {
    shippingMethod(id: string, body: ShippingMethodBody): ShippingMethod {
      const { name, countries, price, freeFrom, pricePerKilogram, maximumWeight, days } = body;
      const { taxCategory = 'standard', position = 0 } = body;
      return {
        id,
        name,
        ...(countries && { countries }),
        priceMinor: minor(price),
        ...(freeFrom !== undefined && { freeFromMinor: minor(freeFrom) }),
        ...(pricePerKilogram !== undefined && { pricePerKilogramMinor: minor(pricePerKilogram) }),
        ...(maximumWeight !== undefined && { maximumWeightGrams: Number(weight.fromJson(maximumWeight)) }),
        ...(days && { days }),
        taxCategory,
        position,
      };
    },
    taxRate(id: string, { country, region, category = 'standard', rate, name, from }: TaxRateBody): TaxRate {
      return {
        id,
        country,
        ...(region !== undefined && { region }),
        category,
        rate: String(rate),
        name,
        ...(from !== undefined && { from: new Date(from) }),
      };
    },
    discount(id: string, body: DiscountBody): Discount {
      const {
        name,
        code,
        kind,
        value,
        minimum,
        appliesTo,
        from,
        until,
        uses,
        usesPerAccount,
        combinable = false,
      } = body;
      return {
        id,
        name,
        ...(code !== undefined && { code }),
        kind,
        ...(kind === 'percent' && { percent: String(value) }),
        ...(kind === 'amount' && { amountMinor: minor(value ?? 0) }),
        ...(minimum !== undefined && { minimumMinor: minor(minimum) }),
        ...(appliesTo && { appliesTo }),
        ...(from !== undefined && { from: new Date(from) }),
        ...(until !== undefined && { until: new Date(until) }),
        ...(uses !== undefined && { uses }),
        ...(usesPerAccount !== undefined && { usesPerAccount }),
        combinable,
      };
    },
  };
}
