// Everything that is Stripe's: the calls of its API, its webhook, and the decimals of its currencies.
import Stripe from 'stripe';
import { type Movement, type Payment, type Provider, UnverifiedError } from './provider.ts';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** The address of the API. Only tests have another one. */
  readonly apiBase: URL;
}

// https://docs.stripe.com/currencies#zero-decimal and #three-decimal. Special cases (#special-cases):
// - ISK has two decimals in the API, and they must be 00. The shop sells in whole ISK, so they are.
// - HUF and TWD have two decimals in payments and refunds; only payouts need whole amounts.
// - The last digit of a currency with three decimals must be 0: prices in KWD are multiples of 0.010.
// - UGX is listed as zero-decimal and as a special case with two decimals, so it needs a test with Stripe first.
const zeroDecimal = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
const threeDecimal = new Set('BHD JOD KWD OMR TND'.split(' '));

export function decimalsOf(currency: string): number {
  if (currency === 'UGX') throw new RangeError('test the decimals of UGX with Stripe, and add them to stripe.ts');
  if (zeroDecimal.has(currency)) return 0;
  return threeDecimal.has(currency) ? 3 : 2;
}

export function createStripe({ secretKey, webhookSecret, apiBase }: StripeSettings): Provider {
  const { protocol, hostname: host, port } = apiBase;
  const stripe = new Stripe(secretKey, {
    host,
    port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
    protocol: protocol === 'https:' ? 'https' : 'http',
    timeout: 20_000,
    maxNetworkRetries: 2,
  });

  return {
    decimalsOf,

    async createPayment({ orderId, amount, currency }) {
      const intent = { amount, currency: currency.toLowerCase(), metadata: { orderId } };
      // The same order and amount get the same payment intent, so a customer with two windows pays once. Stripe
      // repeats a 500 for its key, and an unpaid intent moves no money, so another key is tried.
      for (let attempt = 1; ; attempt += 1) {
        try {
          const idempotencyKey = `payment:${orderId}:${amount}:${attempt}`;
          const created = await stripe.paymentIntents.create(intent, { idempotencyKey });
          return { clientSecret: created.client_secret };
        } catch (error) {
          if (attempt === 3 || !(error instanceof Stripe.errors.StripeAPIError)) throw error;
        }
      }
    },

    async readReport(body, signature) {
      const event = verified(() => stripe.webhooks.constructEvent(body, signature, webhookSecret));
      // A payment intent that has succeeded never changes again.
      if (event.type === 'payment_intent.succeeded') return received(event.data.object);
      // `charge.refunded` has no refunds since API version 2022-11-15, and `charge.refund.updated` is sent for some
      // payment methods only. https://docs.stripe.com/api/events/types
      if (event.type === 'refund.created' || event.type === 'refund.updated' || event.type === 'refund.failed') {
        // Events arrive in any order, and a refund that succeeded may fail later, so the present state is read.
        return refunded(await stripe.refunds.retrieve(event.data.object.id, { expand: ['payment_intent'] }));
      }
      return undefined;
    },

    async paymentsOf(orderId) {
      const payments: Payment[] = [];
      // The search is up to a minute behind: https://docs.stripe.com/search#data-freshness. Lists are not.
      const query = `metadata['orderId']:'${orderId}'`;
      for await (const intent of stripe.paymentIntents.search({ query, limit: 100 })) {
        if (intent.status !== 'succeeded') continue;
        const refunds: Movement[] = [];
        for await (const refund of stripe.refunds.list({ payment_intent: intent.id, limit: 100 })) {
          refunds.push({ ...refunded(refund), orderId });
        }
        payments.push({ ...received(intent), refunds });
      }
      return payments;
    },

    async *movementsSince(time) {
      const recent = { created: { gte: Math.floor(time.getTime() / 1_000) }, limit: 100 };
      for await (const intent of stripe.paymentIntents.list(recent)) {
        if (intent.status === 'succeeded') yield received(intent);
      }
      for await (const refund of stripe.refunds.list({ ...recent, expand: ['data.payment_intent'] })) {
        yield refunded(refund);
      }
    },

    async refund({ payment, orderId, amount, key }) {
      // Stripe repeats the first result of a key for a day, also a 500, after which it is unknown whether the refund
      // was made. So a refund with such a result is tried again after a day.
      // https://docs.stripe.com/api/idempotent_requests
      const refund = { payment_intent: payment, amount, metadata: { orderId } };
      await stripe.refunds.create(refund, { idempotencyKey: key });
    },
  };
}

function verified(read: () => Stripe.Event): Stripe.Event {
  try {
    return read();
  } catch (error) {
    throw new UnverifiedError((error as Error).message);
  }
}

function received({ id, metadata, amount_received, currency }: Stripe.PaymentIntent): Movement {
  const amount = { amount: amount_received, currency: currency.toUpperCase() };
  return { kind: 'payment', reference: id, orderId: metadata?.orderId, ...amount, state: 'done' };
}

/** The order is that of the payment intent, because a refund that was made in the dashboard has no metadata. */
function refunded({ id, metadata, payment_intent, amount, currency, status }: Stripe.Refund): Movement {
  const ofPayment = typeof payment_intent === 'object' ? payment_intent?.metadata : undefined;
  return {
    kind: 'refund',
    reference: id,
    orderId: ofPayment?.orderId ?? metadata?.orderId,
    amount,
    currency: currency.toUpperCase(),
    state: status === 'succeeded' ? 'done' : status === 'failed' || status === 'canceled' ? 'failed' : 'open',
  };
}
