// Access rules: the status that an operation returns to each kind of caller, for an own, a foreign and a missing
// resource. Each service defines the rules of its operations in test/access-rules.ts, and test/system/access tests
// them.

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
  payer: ['payments:write'],
  configurer: ['settings:write'],
  integrator: ['webhooks:write'],
  supporter: ['accounts:support'],
  machine: ['orders:read-all'],
} as const satisfies Record<string, readonly string[]>;

export type AccessCaller = keyof typeof scopes;
export const accessCallers = Object.keys(scopes) as AccessCaller[];
export const scopesOf = (caller: AccessCaller): readonly string[] => scopes[caller];

export const accessTargets = ['own', 'foreign', 'absent'] as const;
export type AccessTarget = (typeof accessTargets)[number];

/** The resource that a path parameter names. */
export type AccessResource =
  | 'account'
  | 'session'
  | 'order'
  | 'product'
  | 'import'
  | 'return'
  | 'webhook'
  | 'change'
  | SettingResource;
export type SettingResource = 'shippingMethod' | 'taxRate' | 'discount';

export interface AccessRule {
  /** Undefined when the path has no parameter. */
  readonly resource?: AccessResource;
  readonly body?: () => unknown;
  /** The media type of a body that is not JSON. */
  readonly mediaType?: string;
  /** Whether tokens are ignored. */
  readonly public?: true;
  /** The scope that the token needs. */
  readonly scope?: string;
  /** Whether a machine may call it with one of its scopes, although the token needs no scope. */
  readonly forMachines?: true;
  /** Whether the response is an endless stream. */
  readonly streams?: true;
  /** The status for a permitted caller. */
  readonly expected: (caller: AccessCaller, target: AccessTarget) => number;
}

/** operationId → rule. */
export type AccessRules = Readonly<Record<string, AccessRule>>;

/** Returns 404 for a missing resource, and otherwise this status for every permitted caller. */
export const unlessAbsent = (status: number) => (_caller: AccessCaller, target: AccessTarget) =>
  target === 'absent' ? 404 : status;
