// The access rules: each operation of each contract, for each kind of caller, on an own, a foreign and a missing
// resource.
import { newId } from '@shop/shared/runtime';

/** Each kind of caller with the scopes of its token. */
const scopes = {
  nobody: [],
  expired: [],
  forged: [],
  owner: [],
  other: [],
  reader: ['orders:read-all'],
  fulfiller: ['orders:fulfil'],
  editor: ['catalogue:write'],
} as const satisfies Record<string, readonly string[]>;

export type Caller = keyof typeof scopes;
export const callers = Object.keys(scopes) as Caller[];
export const scopesOf = (caller: Caller): readonly string[] => scopes[caller];

export const targets = ['own', 'foreign', 'absent'] as const;
export type Target = (typeof targets)[number];

/** The resource that a path parameter names. */
export type Resource = 'account' | 'order' | 'product';

export interface Rule {
  /** Undefined when the path has no parameter. */
  readonly resource?: Resource;
  readonly body?: () => unknown;
  /** Tokens are ignored. */
  readonly public?: true;
  /** The scope that the token needs. */
  readonly scope?: string;
  /** The response is a stream that does not end. */
  readonly streams?: true;
  /** The status for a permitted caller. */
  readonly expected: (caller: Caller, target: Target) => number;
}

const account = (caller: Caller, target: Target) => (caller === 'owner' && target === 'own' ? 200 : 403);
const ownOrder = (caller: Caller, target: Target) => (caller === 'owner' && target === 'own' ? 200 : 404);
const readOrder = (caller: Caller, target: Target) =>
  target !== 'absent' && caller === 'reader' ? 200 : ownOrder(caller, target);
const unlessAbsent = (status: number) => (_caller: Caller, target: Target) => (target === 'absent' ? 404 : status);
/** These orders are already cancelled. */
const fulfil: Rule = { resource: 'order', scope: 'orders:fulfil', expected: unlessAbsent(409) };

export const someone = { name: 'Someone', email: 'someone@example.com', password: 'a quiet green door' };
export const product = { name: 'A', brand: 'B', category: 'C', price: 1, status: 'active' };

export const rules: Readonly<Record<string, Rule>> = {
  registerAccount: {
    public: true,
    body: () => ({ ...someone, email: `${newId()}@example.com` }),
    expected: () => 201,
  },
  getAccount: { resource: 'account', expected: account },
  updateAccount: { resource: 'account', body: () => ({ phone_number: '+49 30 1234' }), expected: account },
  issueToken: {
    public: true,
    body: () => ({ email: 'none@example.com', password: 'wrong password' }),
    expected: () => 401,
  },
  revokeToken: { public: true, body: () => ({ refresh_token: 'none' }), expected: () => 204 },
  getKeySet: { public: true, expected: () => 200 },
  createOrder: { body: () => ({ items: [{ productId: newId(), quantity: 1 }] }), expected: () => 422 },
  listOrders: { expected: () => 200 },
  getOrder: { resource: 'order', expected: readOrder },
  getOrderHistory: { resource: 'order', expected: readOrder },
  cancelOrder: { resource: 'order', expected: ownOrder },
  processOrder: fulfil,
  shipOrder: fulfil,
  deliverOrder: fulfil,
  listProducts: { public: true, expected: () => 200 },
  searchProducts: { public: true, body: () => ({}), expected: () => 200 },
  getProduct: { resource: 'product', public: true, expected: unlessAbsent(200) },
  createProduct: { scope: 'catalogue:write', body: () => product, expected: () => 201 },
  updateProduct: {
    resource: 'product',
    scope: 'catalogue:write',
    body: () => ({ name: 'A2' }),
    expected: unlessAbsent(200),
  },
  watchBoard: { scope: 'orders:read-all', streams: true, expected: () => 200 },
  traceOrderOnBoard: { resource: 'order', scope: 'orders:read-all', expected: unlessAbsent(200) },
};

/** The status of the refusal that follows from the token alone; undefined when the caller is permitted. */
export function refusal(rule: Rule, caller: Caller): 401 | 403 | undefined {
  if (rule.public === true) return undefined;
  if (caller === 'nobody' || caller === 'expired' || caller === 'forged') return 401;
  return rule.scope === undefined || scopesOf(caller).includes(rule.scope) ? undefined : 403;
}

export function expectedStatus(rule: Rule, caller: Caller, target: Target): number {
  return refusal(rule, caller) ?? rule.expected(caller, target);
}
