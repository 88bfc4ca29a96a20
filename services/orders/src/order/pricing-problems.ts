// Explains to clients why an order cannot be placed at the price of the settings.
import { type Fault, Problem } from '@shop/shared/problem';
import type { DiscountNotApplicable, NotDelivered, PricingFault, PricingInput } from '../pricing/pricing.ts';
import type { Orders } from './order.ts';

const nothingOrdered = 'Nothing was ordered.';

export function toPricingProblem(fault: PricingFault, input: PricingInput, orders: Orders): Problem {
  if (fault.kind === 'total-too-large') return totalTooLarge();
  return fault.kind === 'not-delivered-there' ? notDelivered(fault, input) : notApplicable(fault, input, orders);
}

export function totalTooLarge(): Problem {
  const detail = 'cost more together than one order may';
  return new Problem('invalid-request', `The items ${detail}.`, { errors: [{ pointer: '/items', detail }] });
}

function notDelivered(
  { reason, countries, weightGrams = 0, maximumWeightGrams = 0 }: NotDelivered,
  input: PricingInput,
) {
  const { address, shippingMethodId } = input;
  const ofMethod = { pointer: '/shippingMethodId' };
  const refuse = (sentence: string, fault: Fault): Problem =>
    new Problem('not-delivered-there', `${sentence} ${nothingOrdered}`, { errors: [fault] });
  if (reason === 'unknown-method')
    return refuse('There is no such shipping method.', { ...ofMethod, detail: 'is unknown' });
  const what = shippingMethodId === undefined ? 'The shop' : 'The shipping method';
  if (reason === 'weight') {
    const [weight, maximum] = [weightGrams / 1000, maximumWeightGrams / 1000];
    const detail = `weighs ${weight} kg, and at most ${maximum} kg can be sent there`;
    const pointer = shippingMethodId === undefined ? '/items' : ofMethod.pointer;
    return refuse(`The order ${detail}.`, { pointer, detail, weight, maximumWeight: maximum });
  }
  const country = address?.country;
  const where = country === undefined ? 'an address without a country' : `the country ${country}`;
  const served = countries === undefined ? '' : ` It delivers to ${countries.join(', ')}.`;
  return refuse(`${what} does not deliver to ${where}.${served}`, {
    pointer: shippingMethodId === undefined ? '/shipping_address/country' : ofMethod.pointer,
    detail: `does not deliver to ${where}`,
    ...(countries && { countries }),
  });
}

function notApplicable(fault: DiscountNotApplicable, { discount }: PricingInput, orders: Orders): Problem {
  const { detail, figures } = explain(fault, orders);
  return refuseCode(`The code ${discount?.code} ${detail}.`, detail, figures);
}

interface Explanation {
  readonly detail: string;
  readonly figures?: Readonly<Record<string, unknown>>;
}

function explain(fault: DiscountNotApplicable, { money, currency }: Orders): Explanation {
  switch (fault.reason) {
    case 'not-begun':
      return { detail: `begins on ${fault.from.toISOString()}`, figures: { from: fault.from.toISOString() } };
    case 'ended':
      return { detail: `ended on ${fault.until.toISOString()}`, figures: { until: fault.until.toISOString() } };
    case 'other-products':
      return { detail: 'is for other products' };
    case 'minimum': {
      const [minimum, missing] = [money.toText(fault.minimumMinor), money.toText(fault.missingMinor)];
      return {
        detail: `is for orders from ${minimum} ${currency}; ${missing} ${currency} are missing`,
        figures: { minimum: Number(minimum), missing: Number(missing) },
      };
    }
  }
}

/** A code that does not exist, whatever it was. */
export function noSuchCode(): Problem {
  return refuseCode('There is no discount with this code.', 'is no code of a discount');
}

export function usedUp(): Problem {
  return refuseCode('The discount of this code is used up.', 'is used up');
}

function refuseCode(sentence: string, detail: string, figures: Explanation['figures'] = {}): Problem {
  const errors = [{ pointer: '/discountCode', detail, ...figures }];
  return new Problem('discount-not-applicable', `${sentence} ${nothingOrdered}`, { errors });
}

/** The shop takes orders only from accounts with a verified e-mail address. */
export function unverified(): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="shop"' };
  return new Problem('email-not-verified', 'The e-mail address must be verified first. Nothing was ordered.', {
    headers,
  });
}
