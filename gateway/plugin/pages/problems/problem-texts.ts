// What each problem code means to somebody who got one: when it happens, an example of its `detail`, what to do.
import type { ProblemCode } from '@shop/shared/protocol';

export interface ProblemText {
  readonly when: string;
  readonly example: string;
  readonly remedy: string;
}

/** Exactly one text for every code of the closed table. */
export const problemTexts: Readonly<Record<ProblemCode, ProblemText>> = {
  'invalid-request': {
    when: 'Something in the request breaks the contract of the operation: a member that is missing, unknown or of the wrong type, a parameter that cannot be read, a body that is no JSON.',
    example: 'The query has 2 faults; see errors.',
    remedy: 'Look at `errors`: it lists every fault with its place. Mend them all and send the request again.',
  },
  'invalid-cursor': {
    when: 'The cursor was changed on its way, belongs to another account or collection, or is used with another sort or filter than the page it came from.',
    example:
      'The cursor does not belong to this request. Send nextCursor unchanged with the same sort and filters, or begin again without a cursor.',
    remedy:
      'Send the `nextCursor` of the previous page with the same sort and filters, or leave it out to start again.',
  },
  unauthenticated: {
    when: 'The operation needs an access token, and the request has none, or one that is expired, revoked or not ours.',
    example: 'The access token has expired.',
    remedy:
      'Get a new access token with your refresh token or your e-mail and password, and send it as `Authorization: Bearer …`.',
  },
  'invalid-credentials': {
    when: 'The e-mail and password, or the refresh token, do not belong together or to any account. The answer is the same whether or not the e-mail is known.',
    example: 'The e-mail address or the password is wrong.',
    remedy: 'Check what was typed. A refresh token works once; after that, log in again.',
  },
  forbidden: {
    when: 'The access token is valid, but its account may not do this: the resource is another account’s, or a staff scope is missing.',
    example: 'This operation needs the scope orders:fulfil.',
    remedy:
      'Use an account that may. When a scope was granted just now, get a new access token: scopes are written into it.',
  },
  'reauthentication-required': {
    when: 'The request changes the password or the e-mail address of an account, and one of them was changed after the access token was issued.',
    example: 'The password or the e-mail address was changed after this access token was issued. Log in again.',
    remedy: 'Get a new access token with the present e-mail address and password, and send the request again with it.',
  },
  'not-found': {
    when: 'Nothing is at this address, or what is there belongs to somebody else; the answer does not say which.',
    example: 'There is nothing at this address.',
    remedy: 'Check the path and the id. Paths have one spelling: lower case, no slash at the end.',
  },
  'method-not-allowed': {
    when: 'The address exists, but not with this method.',
    example: 'The method DELETE is not supported here.',
    remedy: 'Use one of the methods in the `Allow` header of the answer.',
  },
  'not-acceptable': {
    when: 'The `Accept` header rules out every form that the resource has.',
    example: 'Answers are application/json.',
    remedy: 'Accept `application/json` and `application/problem+json`.',
  },
  'request-timeout': {
    when: 'The request began to arrive and was not complete within ten seconds.',
    example: 'The request did not arrive in time.',
    remedy: 'Send it again over a connection that carries it faster. Nothing was done.',
  },
  'email-already-registered': {
    when: 'An account with this e-mail exists. Letter case and spaces around it make no difference.',
    example: 'An account with this e-mail address exists. Log in instead.',
    remedy: 'Log in with it, or register another address.',
  },
  'order-already-shipped': {
    when: 'A cancellation was requested for an order that has been shipped or delivered.',
    example: 'The order is delivered and can no longer be cancelled.',
    remedy: 'The order stays as it is. Send the goods back once they arrive.',
  },
  'invalid-transition': {
    when: 'The order is not in a state from which this step is possible.',
    example: 'An order that is pending cannot become delivered.',
    remedy: 'Read the order: `status` says where it is and `allowedActions` what may come next.',
  },
  'insufficient-stock': {
    when: 'At least one line of the order asks for more than there is: nothing was ordered. Or a change of a product sets its stock below what is promised to orders: nothing was changed.',
    example: 'There is not enough stock for the order. Nothing was ordered.',
    remedy:
      'The answer lists what lacks. Lower the quantities or leave the lines out, and order again; for a product, send a higher stock.',
  },
  'price-changed': {
    when: 'The total differs from the `expectedTotal` that was sent, because a price changed in between. Nothing was ordered.',
    example: 'The order costs 21.98, not 19.98. Nothing was ordered.',
    remedy: 'The answer lists the old and new prices. Show them, and order again with the new total.',
  },
  'request-in-progress': {
    when: 'A request with the same idempotency key is still running.',
    example: 'The first request with this Idempotency-Key is still running.',
    remedy: 'Wait as long as `Retry-After` says and send the same request again: it brings the first one’s answer.',
  },
  'precondition-failed': {
    when: 'The resource has changed since the version that `If-Match` names.',
    example: 'The resource has changed since the version that If-Match names. Read it again.',
    remedy: 'Read it again, apply the change to what is there now, and send its new `ETag`.',
  },
  'content-too-large': {
    when: 'The body has more bytes than the operation accepts.',
    example: 'The body is larger than 16384 bytes.',
    remedy:
      'Send less. The reference gives the bound of each operation; every body that it describes fits, whatever characters its texts have.',
  },
  'uri-too-long': {
    when: 'The path and query together are longer than 8 KiB.',
    example: 'The request target is longer than 8192 bytes.',
    remedy: 'For long product filters use `POST /v1/products/search`, which takes them in the body.',
  },
  'unsupported-media-type': {
    when: 'The body has a media type that the operation does not take, or none.',
    example: 'Send the body as application/json.',
    remedy: 'Use the type in the `Accept-Post` or `Accept-Patch` header of the answer.',
  },
  'product-not-available': {
    when: 'A line of the order names a product that does not exist or is not for sale at the moment.',
    example: 'Not every product of the order is for sale. Nothing was ordered.',
    remedy: 'Leave it out, or look at the product’s `status`.',
  },
  'idempotency-key-reused': {
    when: 'The idempotency key was used before, with another request.',
    example: 'This Idempotency-Key was used for another request. Use a new key.',
    remedy: 'Make a new key for each new request; keep one only for sending the very same request again.',
  },
  'password-too-common': {
    when: 'The password is one of those that are tried first by anybody who guesses.',
    example: 'This password is among the most common ones. Choose another.',
    remedy: 'Choose a longer one that is yours alone.',
  },
  'query-too-costly': {
    when: 'The filter has more conditions, values or groups than the service evaluates, or took longer than it may.',
    example: 'At most 20 conditions are accepted; these are 24. nearest is the closest accepted query.',
    remedy: 'The answer says which bound was passed. Narrow the filter, or split it into several requests.',
  },
  'too-many-requests': {
    when: 'The account or address has sent more requests than its share.',
    example: 'Too many requests; wait 2 s.',
    remedy: 'Wait as long as `Retry-After` says. `RateLimit` on every answer shows what is left.',
  },
  'header-fields-too-large': {
    when: 'The header section is larger than 16 KiB or has more than 100 fields.',
    example: 'The header fields are larger than 16384 bytes.',
    remedy: 'Send fewer and shorter header fields.',
  },
  'internal-error': {
    when: 'Something failed that should not have. It is written down with the request id.',
    example: 'The request could not be completed. Tell us the request id if it happens again.',
    remedy: 'Try again once. When it happens again, tell us the request id (`instance`).',
  },
  'bad-gateway': {
    when: 'A service broke off before it had answered, or its answer was none. What was asked may have been done.',
    example: 'The service gave no valid answer.',
    remedy: 'Read before you repeat. A request with an `Idempotency-Key` can be sent again without a thought.',
  },
  'service-unavailable': {
    when: 'A service, or something it needs, is away or overloaded for the moment. Once in a while what was asked has been done.',
    example: 'The service is not available at the moment; try again shortly.',
    remedy:
      'Wait as long as `Retry-After` says. Send a GET again, and a POST with the same `Idempotency-Key`; before anything else, read.',
  },
  'gateway-timeout': {
    when: 'A service did not answer within ten seconds. What was asked may have been done.',
    example: 'The service did not answer in time.',
    remedy: 'Read before you repeat. A request with an `Idempotency-Key` can be sent again without a thought.',
  },
};
