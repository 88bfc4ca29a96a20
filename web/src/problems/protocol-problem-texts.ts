// Explains the problem codes that any operation can return.

export const protocolProblemTexts = {
  'invalid-request': {
    when:
      'Something in the request breaks the contract of the operation: a member that is missing, unknown or of the ' +
      'wrong type, a parameter that cannot be parsed, or a body that is not JSON.',
    example: 'The body ended before its announced length.',
    remedy: 'Look at `errors`: it lists every fault with its location. Fix them all and send the request again.',
  },
  'invalid-cursor': {
    when:
      'The cursor was changed on its way, belongs to another account or collection, or is used with another sort ' +
      'or filter than the page it came from.',
    example:
      'The cursor does not belong to this request. Send nextCursor unchanged with the same sort and filters, or ' +
      'begin again without a cursor.',
    remedy:
      'Send the `nextCursor` of the previous page with the same sort and filters, or omit it to start from the ' +
      'first page.',
  },
  'cursor-expired': {
    when: 'Changes are kept for 7 days, and the cursor is older; or the feed was restored from a backup.',
    example:
      'The changes after this cursor are no longer kept. Read cursor=now, then the lists, then the changes after that ' +
      'cursor.',
    remedy:
      'Read the position with `cursor=now`, then the lists that you follow, and then the changes after that position.',
  },
  'not-found': {
    when: 'Nothing exists at this address, or it belongs to another account; the response does not show which.',
    example: 'There is nothing at this address.',
    remedy: 'Check the path and the id. Paths are in lower case, without a slash at the end.',
  },
  'method-not-allowed': {
    when: 'The address exists, but not with this method.',
    example: 'The method DELETE is not supported here; GET, HEAD, OPTIONS, POST are.',
    remedy: 'Use one of the methods in the `Allow` header of the response.',
  },
  'not-acceptable': {
    when: 'The `Accept` header excludes every representation of the resource.',
    example: 'Answers are application/json.',
    remedy: 'Accept `application/json` and `application/problem+json`.',
  },
  'request-timeout': {
    when: 'The request began to arrive and was not complete within ten seconds.',
    example: 'The request did not arrive in time.',
    remedy: 'Send it again over a faster connection. Nothing was done.',
  },
  'request-in-progress': {
    when: 'A request with the same idempotency key is still running.',
    example: 'The first request with this Idempotency-Key is still running.',
    remedy:
      'Wait for the time in `Retry-After` and send the same request again: it returns the response of the first one.',
  },
  'precondition-failed': {
    when: 'The resource has changed since the version that `If-Match` names.',
    example: 'The resource has changed since the version that If-Match names. Read it again.',
    remedy: 'Read it again, apply the change to its current state, and send the new `ETag`.',
  },
  'content-too-large': {
    when: 'The body has more bytes than the operation accepts.',
    example: 'The body is larger than 16384 bytes.',
    remedy:
      'Send a smaller body, or its texts in UTF-8 instead of `\\u` escapes. The reference gives the bound of each ' +
      'operation; every body that it describes fits in UTF-8, except a search.',
  },
  'uri-too-long': {
    when: 'The path and query together are longer than 8 KiB.',
    example: 'The request target is longer than 8192 bytes.',
    remedy: 'For long product filters use `POST /v1/products/search`, which accepts them in the body.',
  },
  'unsupported-media-type': {
    when: 'The body has a media type that the operation does not accept, or none.',
    example: 'Send the body as application/json.',
    remedy: 'Use the type in the `Accept-Post` or `Accept-Patch` header of the response.',
  },
  'idempotency-key-reused': {
    when: 'The idempotency key was used before, with another request.',
    example: 'This Idempotency-Key was used for another request. Use a new key.',
    remedy: 'Create a new key for each new request. Reuse a key only to send the same request again.',
  },
  'query-too-costly': {
    when: 'The filter has more conditions, values or groups than the service evaluates, or it exceeded its time limit.',
    example: 'At most 20 conditions are accepted; these are 24. nearest is the closest accepted query.',
    remedy: 'The response names the exceeded bound. Send `nearest`, or each query of `split`, or narrow the filter.',
  },
  'too-many-requests': {
    when: 'The account or client address has exceeded its request limit.',
    example: 'Too many requests; wait 2 s.',
    remedy: 'Wait for the time in `Retry-After`. `RateLimit` on every response shows the remaining requests.',
  },
  'header-fields-too-large': {
    when: 'The header section is larger than 16 KiB or has more than 100 fields.',
    example: 'The header fields are larger than 16384 bytes.',
    remedy: 'Send fewer and shorter header fields.',
  },
  'internal-error': {
    when: 'An unexpected error occurred. It is logged with the request id.',
    example: 'The request could not be completed. Tell us the request id if it happens again.',
    remedy: 'Try again once. If it happens again, report the request id (`instance`).',
  },
  'bad-gateway': {
    when:
      'A service closed the connection before it had answered, or its response was invalid. The request may have ' +
      'been executed.',
    example: 'The service gave no valid answer.',
    remedy:
      'Check the current state before you repeat the request. A request with an `Idempotency-Key` can always be ' +
      'repeated.',
  },
  'service-unavailable': {
    when:
      'A service, or a system that it needs, is temporarily unavailable or overloaded. In rare cases the request ' +
      'has been executed.',
    example: 'The service is not available at the moment; try again shortly.',
    remedy:
      'Wait for the time in `Retry-After`. Repeat a GET, or a POST with the same `Idempotency-Key`; before you ' +
      'repeat another request, check the current state.',
  },
  'gateway-timeout': {
    when: 'A service did not answer within ten seconds. The request may have been executed.',
    example: 'The service did not answer in time.',
    remedy:
      'Check the current state before you repeat the request. A request with an `Idempotency-Key` can always be ' +
      'repeated.',
  },
} as const;
