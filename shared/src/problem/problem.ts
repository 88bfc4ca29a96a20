// The closed table of all problems of the shop, and the error type for one entry of it.

/** Problem code → HTTP status and title. The `type` of a problem document is `/problems/<code>`. */
export const problems = {
  'invalid-request': { status: 400, title: 'The request is not valid' },
  'invalid-cursor': { status: 400, title: 'The cursor is not valid for this request' },
  'invalid-token': { status: 400, title: 'The token is not valid' },
  unauthenticated: { status: 401, title: 'Authentication is required' },
  'invalid-credentials': { status: 401, title: 'The credentials are not valid' },
  forbidden: { status: 403, title: 'The caller may not do this' },
  'account-blocked': { status: 403, title: 'The account is blocked' },
  'email-not-verified': { status: 403, title: 'The e-mail address is not verified' },
  'reauthentication-required': { status: 403, title: 'A new log-in is required' },
  'wrong-password': { status: 403, title: 'The current password is wrong' },
  'not-found': { status: 404, title: 'There is no such resource' },
  'method-not-allowed': { status: 405, title: 'The resource does not support this method' },
  'not-acceptable': { status: 406, title: 'No acceptable representation' },
  'request-timeout': { status: 408, title: 'The request took too long to arrive' },
  'email-already-registered': { status: 409, title: 'The e-mail address is already registered' },
  'order-already-shipped': { status: 409, title: 'The order has already shipped' },
  'units-not-in-order': { status: 409, title: 'The order has fewer units' },
  'invalid-transition': { status: 409, title: 'The order cannot make this transition' },
  'return-period-ended': { status: 409, title: 'The period for returns has ended' },
  'insufficient-stock': { status: 409, title: 'There is not enough stock' },
  'hold-limit': { status: 409, title: 'The account holds too much in orders that are not processed yet' },
  'sku-in-use': { status: 409, title: 'Another product has this sku' },
  'variant-in-use': { status: 409, title: 'Another product has these options' },
  'stock-changed': { status: 409, title: 'The stock has changed' },
  'stock-missing': { status: 409, title: 'Units are not on hand' },
  'price-changed': { status: 409, title: 'A price has changed' },
  'quote-expired': { status: 409, title: 'The quote has expired' },
  'discount-not-applicable': { status: 409, title: 'The discount does not apply' },
  'discount-code-exists': { status: 409, title: 'Another discount has this code' },
  'tax-rate-exists': { status: 409, title: 'Another tax rate is the same' },
  'payment-due': { status: 409, title: 'The order is not paid' },
  'payment-amount-differs': { status: 409, title: 'The payment is not the amount that is due' },
  'refund-exceeds-due': { status: 409, title: 'The refund is more than is due' },
  'webhook-limit': { status: 409, title: 'There are too many webhooks' },
  'request-in-progress': { status: 409, title: 'The first request with this key is still running' },
  'cursor-expired': { status: 410, title: 'The cursor is too old' },
  'precondition-failed': { status: 412, title: 'The resource has changed' },
  'content-too-large': { status: 413, title: 'The body is too large' },
  'uri-too-long': { status: 414, title: 'The address is too long' },
  'unsupported-media-type': { status: 415, title: 'The media type is not supported' },
  'not-delivered-there': { status: 422, title: 'The order is not delivered there' },
  'product-not-available': { status: 422, title: 'A product cannot be ordered' },
  'idempotency-key-reused': { status: 422, title: 'The idempotency key belongs to another request' },
  'reference-reused': { status: 422, title: 'The reference belongs to another payment' },
  'password-too-common': { status: 422, title: 'The password is too common' },
  'query-too-costly': { status: 422, title: 'The query is too costly' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'header-fields-too-large': { status: 431, title: 'The header fields are too large' },
  'internal-error': { status: 500, title: 'Something went wrong on our side' },
  'bad-gateway': { status: 502, title: 'A service gave no valid answer' },
  'service-unavailable': { status: 503, title: 'A service is temporarily unavailable' },
  'gateway-timeout': { status: 504, title: 'A service did not answer in time' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/**
 * The maximum number of faults that one step lists. A longer list would only turn a small request into a large
 * response.
 */
export const maxFaults = 100;

/**
 * Joins two lists of faults. A further fault at a pointer with an earlier one is omitted: it only follows from that.
 */
export function joinedFaults(found: readonly Fault[], further: readonly Fault[]): Fault[] {
  const pointers = new Set(found.map(({ pointer }) => pointer));
  return [...found, ...further.filter(({ pointer }) => pointer === undefined || !pointers.has(pointer))];
}

/**
 * Returns a sentence with the first fault and the number of the others.
 * @param most the maximum length of the list of faults
 */
export function toSummary(faults: readonly Fault[], most = maxFaults): string {
  const [first] = faults;
  const where = first?.parameter ?? first?.header ?? (first?.pointer === '' ? 'The body' : first?.pointer);
  const others = `${faults.length < most ? '' : 'at least '}${faults.length - 1} more`;
  // A detail that begins with the wrong value does not continue the sentence.
  const colon = first?.detail.startsWith('"') === true ? ':' : '';
  const text = `${where}${colon} ${first?.detail}${faults.length > 1 ? ` (and ${others})` : ''}`;
  return text.endsWith('?') ? text : `${text}.`;
}

/**
 * One fault in the request. Exactly one of `pointer` (RFC 6901, into the body), `parameter` and `header` names its
 * location.
 */
export interface Fault {
  pointer?: string;
  parameter?: string;
  header?: string;
  detail: string;
  [extension: string]: unknown;
}

export interface ProblemOptions {
  /** All faults that fit into 40 KiB. */
  errors?: readonly Fault[];
  /** Response headers, such as `WWW-Authenticate`, `Allow` or `Retry-After`. */
  headers?: Readonly<Record<string, string>>;
  /** Extension members of the document (RFC 9457 section 3.2). */
  extensions?: Readonly<Record<string, unknown>>;
  /** The cause, which is logged and never sent to the client. */
  cause?: unknown;
}

/** A problem. Any step can throw it, and the application converts it to a response in one place. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly errors: readonly Fault[];
  readonly headers: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, unknown>>;

  /** @param detail a sentence for the client that states the fault and the remedy */
  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    // An error response needs no stack, because its document states the fault. Recording the stack takes longer than
    // the rest of the response.
    const { stackTraceLimit } = Error;
    if (problems[code].status < 500) Error.stackTraceLimit = 0;
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'Problem';
    this.code = code;
    this.status = problems[code].status;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
    this.extensions = options.extensions ?? {};
  }
}

/** Returns the problem for a body of more than `maxBytes` bytes. */
export function contentTooLarge(maxBytes: number): Problem {
  return new Problem('content-too-large', `The body is larger than ${maxBytes} bytes.`);
}

export const problemMediaType = 'application/problem+json';

/** The maximum characters of one string, and the maximum bytes of all `errors` together. */
const maxText = 1_000;
const maxErrors = 40 * 1024;

/**
 * Returns the problem document (RFC 9457). Strings and `errors` are truncated, so that the size of a response does not
 * grow with the request.
 * @param instance the request id
 */
export function problemDocument(problem: Problem, instance: string): Record<string, unknown> {
  const errors = fitting(problem.errors);
  return {
    type: `/problems/${problem.code}`,
    title: problems[problem.code].title,
    status: problem.status,
    detail: cut(problem.message),
    instance,
    code: problem.code,
    ...(errors.length > 0 ? { errors } : {}),
    ...problem.extensions,
  };
}

function fitting(errors: readonly Fault[]): Fault[] {
  const listed: Fault[] = [];
  let bytes = 0;
  for (const fault of errors) {
    const members = Object.entries(fault).map(([name, value]) => [
      name,
      typeof value === 'string' ? cut(value) : value,
    ]);
    const short = Object.fromEntries(members) as Fault;
    bytes += Buffer.byteLength(JSON.stringify(short));
    if (bytes > maxErrors) break;
    listed.push(short);
  }
  return listed;
}

function cut(text: string): string {
  return text.length <= maxText ? text : `${text.slice(0, maxText).toWellFormed()}…`;
}
