// POST /v1/quotes: what an order would cost, and everything that would refuse it. Nothing is stored or reserved.
import { type Problem, problemDocument } from '@shop/shared/problem';
import type { Operation, OrdersContext } from '../context.ts';
import type { components } from '../generated.ts';
import { type Calculation, calculateOrder, findTerms } from '../order/calculate-order.ts';
import { checkPrices, readExpectedPrices } from '../order/check-prices.ts';
import { toItems, toPrices } from '../order/order-prices.ts';
import { totalTooLarge, unverified } from '../order/pricing-problems.ts';
import { sealQuote } from '../order/quote.ts';
import { findPrices, toWantedLines } from '../order/stock-reservation.ts';
import { destinationOf } from '../pricing/destination.ts';
import type { PricingSettings } from '../pricing/pricing.ts';
import { deliveryOf, shippingPrice } from '../pricing/shipping.ts';

type Quote = components['schemas']['Quote'];

/** 400 for an invalid body, and for an order that costs more than an order may. */
export const quoteOrder: Operation<'quoteOrder'> = async (request, context) => {
  const { orders, quotes, needsVerifiedEmail } = context;
  const expected = readExpectedPrices(request, context);
  const wanted = toWantedLines(request.body);
  const terms = await findTerms(request, context, request.body);
  const { lines, problems: ofStock } = await findPrices(request, context, wanted);
  const problems = [
    ...(needsVerifiedEmail && request.caller?.emailVerified === false ? [unverified()] : []),
    ...ofStock,
  ];
  if (lines.length === 0) return { status: 200, body: emptyQuote(context, problems, request.id) };
  const { order, input, problems: ofPrice } = calculateOrder(context, terms, lines, request.body);
  if (order === undefined) throw totalTooLarge();
  const changed = lines.length === wanted.length ? checkPrices(order, expected, orders) : undefined;
  problems.push(...ofPrice, ...(changed ? [changed] : []));
  const body: Quote = {
    itemsSummary: toItems(orders, order),
    ...toPrices(orders, order),
    totalCost: Number(orders.money.toJson(order.totalMinor)),
    currency: orders.currency,
    shippingMethods: toMethods(context, input, terms.settings, order),
    problems: problems.map((each) => toDocument(each, request.id)),
    ...(problems.length === 0 && sealQuote(quotes, order, input.at)),
  };
  return { status: 200, body };
};

/** The quote of an order none of whose products is for sale. */
function emptyQuote({ orders: { currency } }: OrdersContext, problems: readonly Problem[], id: string): Quote {
  const documents = problems.map((each) => toDocument(each, id));
  return { itemsSummary: [], totalCost: 0, currency, shippingMethods: [], problems: documents };
}

function toDocument(problem: Problem, requestId: string): Quote['problems'][number] {
  return problemDocument(problem, requestId) as Quote['problems'][number];
}

/** Returns every method that delivers the lines to the address, with its price for them. */
function toMethods(
  { orders: { money } }: OrdersContext,
  { shippingMethodId: _, ...input }: Calculation['input'],
  settings: PricingSettings,
  { priced, totalMinor }: NonNullable<Calculation['order']>,
): Quote['shippingMethods'] {
  const { methods, weightGrams } = deliveryOf(input, settings, destinationOf(input, settings));
  const amounts = priced?.totals.lines;
  const goods = amounts?.reduce((sum, { priceMinor, discountMinor }) => sum + priceMinor - discountMinor, 0);
  return methods
    .toSorted((one, other) => one.position - other.position || (one.id < other.id ? -1 : 1))
    .map((method) => ({
      id: method.id,
      name: method.name,
      price: Number(money.toJson(Number(shippingPrice(method, weightGrams, BigInt(goods ?? totalMinor))))),
      ...(method.days && { days: method.days }),
    }));
}
