// Calculates what an order costs with the settings that are in force, for quotes and orders alike.
import type { OperationRequest } from '@shop/shared/http';
import type { Problem } from '@shop/shared/problem';
import type { OrdersContext } from '../context.ts';
import { destinationOf } from '../pricing/destination.ts';
import { priceOrder } from '../pricing/price-order.ts';
import type { Discount, PricingInput, PricingSettings } from '../pricing/pricing.ts';
import { isReverseCharge } from '../pricing/taxes.ts';
import { remainingTotals } from '../pricing/totals.ts';
import { isLimited } from '../settings/discount-uses.ts';
import { findTaxId, type TaxId } from './customer.ts';
import { countGuess } from './discount-guesses.ts';
import type { NewOrder } from './place-order.ts';
import { noSuchCode, toPricingProblem, usedUp } from './pricing-problems.ts';
import type { OrderInput, ReservedLine, WantedLine } from './stock-reservation.ts';

/** The settings and the discount of the given code, without discounts that are used up. */
export interface Terms {
  readonly settings: PricingSettings;
  readonly discount: Discount | undefined;
  /** The tax id of the caller, if the order is free of tax because of it. */
  readonly taxId: TaxId | undefined;
  /** Why the given code cannot be used. */
  readonly problem: Problem | undefined;
}

const withoutDiscounts = { discount: undefined, usedUp: new Set<string>() };

/** @throws Problem 429 when the caller has tried too many codes that do not exist */
export async function findTerms(
  request: OperationRequest,
  { database, pricingSettings }: OrdersContext,
  { discountCode, shipping_address: address }: OrderInput,
): Promise<Terms> {
  const current = await pricingSettings.current();
  const limited = current.discounts.filter(isLimited);
  const { discount, usedUp: used } =
    discountCode === undefined && limited.length === 0
      ? withoutDiscounts
      : await pricingSettings.findDiscount(discountCode, limited, request.caller?.accountId);
  if (discountCode !== undefined && discount === undefined) await countGuess(request);
  const settings =
    used.size === 0 ? current : { ...current, discounts: current.discounts.filter(({ id }) => !used.has(id)) };
  const isUsedUp = discount !== undefined && used.has(discount.id);
  const isUnknown = discountCode !== undefined && discount === undefined;
  const problem = isUnknown ? noSuchCode() : isUsedUp ? usedUp() : undefined;
  const taxId = await findExemption(request, database, current, address);
  return { settings, discount: isUsedUp ? undefined : discount, taxId, problem };
}

/** Orders that are taxed in any case, such as those to the country of the shop, need no query. */
async function findExemption(
  { caller }: OperationRequest,
  database: OrdersContext['database'],
  settings: PricingSettings,
  address: PricingInput['address'],
): Promise<TaxId | undefined> {
  const destination = destinationOf({ ...(address && { address }) }, settings);
  if (caller === undefined || settings.taxes === 'off' || destination.country === settings.country) return undefined;
  const taxId = await findTaxId(database, caller.accountId);
  return taxId && isReverseCharge(taxId.country, destination, settings) ? taxId : undefined;
}

/** What a line of an order costs, and what its product is at present. */
export type CalculatedLine = WantedLine & ReservedLine;

export interface Calculation {
  /** Absent when it costs more than an order may. */
  readonly order?: Pick<NewOrder, 'lines' | 'totalMinor' | 'priced' | 'limitedDiscounts' | 'taxId'>;
  readonly input: PricingInput;
  /** Everything about the price that refuses the order. */
  readonly problems: readonly Problem[];
}

export function calculateOrder(
  { orders }: OrdersContext,
  { settings, discount, taxId, problem }: Terms,
  lines: readonly CalculatedLine[],
  { shipping_address: address, shippingMethodId }: OrderInput,
): Calculation {
  const input: PricingInput = {
    lines: lines.map(toPricingLine),
    ...(address && { address }),
    ...(shippingMethodId !== undefined && { shippingMethodId }),
    ...(discount && { discount }),
    ...(taxId && { isTaxExempt: true }),
    at: new Date(),
  };
  const { pricing, faults } = priceOrder(input, settings);
  const problems = [...(problem ? [problem] : []), ...faults.map((fault) => toPricingProblem(fault, input, orders))];
  if (pricing === undefined) return { input, problems };
  const totals = remainingTotals(pricing);
  const isPlain = pricing.taxes === 'off' && pricing.discounts.length === 0 && pricing.shipping === undefined;
  const candidates = [...settings.discounts, ...(discount ? [discount] : [])];
  const order = {
    lines,
    totalMinor: totals.totalMinor,
    priced: isPlain ? undefined : { pricing, totals },
    limitedDiscounts: candidates.filter(
      (each) => isLimited(each) && pricing.discounts.some(({ id }) => id === each.id),
    ),
    taxId,
  };
  return { order, input, problems };
}

/** A catalogue of the previous release returns no facts: its products have to be sent, and weigh nothing. */
function toPricingLine(line: CalculatedLine): PricingInput['lines'][number] {
  const { productId, quantity, unitPriceMinor, weightGrams, group } = line;
  const { taxCategory = 'standard', shipped = true, brand = '', category = '' } = line;
  return {
    ...{ productId, quantity, unitPriceMinor, taxCategory, shipped, brand, category },
    ...(weightGrams !== undefined && { weightGrams }),
    ...(group !== undefined && { group }),
  };
}
