// The members beside `detail` in the example of a problem: the faults in `errors`, and the members of one code only.
import type { Fault, ProblemCode } from '@shop/shared/problem';

interface ExampleMembers {
  readonly errors: readonly Fault[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

const productId = '01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01';
const settingId = '01931f6e-2d00-7c3a-8d51-5f3b6a1c0f21';
const tooMany = 'At most 20 conditions are accepted; these are 24.';

/** The members as the shop sends them with the `detail` of `problemTexts`. A code without faults is not listed. */
export const exampleMembers: Readonly<Partial<Record<ProblemCode, ExampleMembers>>> = {
  'invalid-request': {
    errors: [
      { parameter: 'limit', detail: 'must be from 1 to 100' },
      {
        parameter: 'sort',
        detail: 'cannot be sorted by stock; sortable are createdAt, name, price, rating, updatedAt, id',
      },
    ],
  },
  'invalid-cursor': {
    errors: [
      {
        parameter: 'cursor',
        detail: 'is not the nextCursor of an answer to this request: the same filters, sort and caller',
      },
    ],
  },
  'invalid-token': { errors: [{ pointer: '/token', detail: 'is not valid' }] },
  'wrong-password': { errors: [{ pointer: '/current_password', detail: 'is not the password of the account' }] },
  'email-already-registered': { errors: [{ pointer: '/email', detail: 'is already registered' }] },
  'units-not-in-order': {
    errors: [
      {
        pointer: '/lines/0',
        detail: '3 are to be cancelled, the order has 2',
        productId,
        requested: 3,
        remaining: 2,
      },
    ],
  },
  'insufficient-stock': {
    errors: [{ pointer: '/items/0', detail: '5 requested, 2 available', productId, requested: 5, available: 2 }],
  },
  'hold-limit': {
    errors: [
      {
        pointer: '/items',
        detail: '10 are held, 1 requested, and the limit is 10',
        bound: 'orders',
        limit: 10,
        held: 10,
        requested: 1,
      },
    ],
  },
  'variant-in-use': {
    errors: [{ pointer: '/variant/options', detail: 'are the options of another product of the group', productId }],
  },
  'sku-in-use': { errors: [{ pointer: '/sku', detail: 'is the sku of another product', productId }] },
  'stock-changed': {
    errors: [{ pointer: '/stock/expected', detail: 'is 7, but 9 units are on hand', onHand: 9 }],
  },
  'stock-missing': {
    errors: [
      {
        parameter: 'orderId',
        detail: '3 of "Enamel mug" are to be shipped, 1 can be',
        productId,
        requested: 3,
        onHand: 1,
      },
    ],
  },
  'price-changed': {
    errors: [
      { pointer: '/expectedTotal', detail: 'is 19.98, but the order costs 21.98', old: 19.98, new: 21.98 },
      { pointer: '/items/0', productId, detail: 'costs 10.99 each', old: 9.99, new: 10.99 },
    ],
  },
  'discount-not-applicable': { errors: [{ pointer: '/discountCode', detail: 'is used up' }] },
  'discount-code-exists': {
    errors: [{ pointer: '/code', detail: `is the code of the discount ${settingId}` }],
  },
  'tax-rate-exists': {
    errors: [{ pointer: '/country', detail: `has the tax rate ${settingId} for the same region, category and time` }],
  },
  'payment-amount-differs': { errors: [{ pointer: '/amount', detail: 'is 19.00, but 29.00 is due', due: 29 }] },
  'refund-exceeds-due': { errors: [{ pointer: '/amount', detail: 'is 30.00, but 29.00 is due', due: 29 }] },
  'precondition-failed': { errors: [{ header: 'If-Match', detail: 'names no version that is current' }] },
  'unsupported-media-type': { errors: [{ header: 'Content-Type', detail: 'must be application/json' }] },
  'not-delivered-there': { errors: [{ pointer: '/shippingMethodId', detail: 'is unknown' }] },
  'product-not-available': {
    errors: [{ pointer: '/items/0', detail: 'is no product that can be ordered', productId }],
  },
  'idempotency-key-reused': { errors: [{ header: 'Idempotency-Key', detail: 'belongs to another request' }] },
  'reference-reused': { errors: [{ pointer: '/amount', detail: 'is not the amount of this reference' }] },
  'password-too-common': { errors: [{ pointer: '/password', detail: 'is among the most common passwords' }] },
  'query-too-costly': {
    errors: [{ parameter: 'price', detail: tooMany }],
    extensions: {
      exceeded: [{ bound: 'conditions', maximum: 20, actual: 24 }],
      nearest: 'price=gte:10&sort=price:asc',
    },
  },
};
