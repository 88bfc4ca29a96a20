// Explains each problem code for clients: when it occurs, an example of its `detail`, and the remedy.
import type { ProblemCode } from '@shop/shared/problem';
import { protocolProblemTexts } from './protocol-problem-texts.ts';

export interface ProblemText {
  readonly when: string;
  readonly example: string;
  readonly remedy: string;
}

export const problemTexts: Readonly<Record<ProblemCode, ProblemText>> = {
  ...protocolProblemTexts,
  'invalid-token': {
    when:
      'The token of an e-mail was used before, was replaced by a newer e-mail, has expired, or never existed. The ' +
      'response does not show which.',
    example: 'The token is not valid. Ask for a new e-mail.',
    remedy: 'Use the newest e-mail, or ask for a new one.',
  },
  unauthenticated: {
    when:
      'The operation needs an access token, and the request has none, or one that is expired or from another ' +
      'issuer, or whose session has ended.',
    example: 'The access token has expired.',
    remedy:
      'Get a new access token with your refresh token or your e-mail and password, and send it as `Authorization: ' +
      'Bearer …`.',
  },
  'invalid-credentials': {
    when:
      'The e-mail address and the password, or the refresh token, do not match an account. The response does not ' +
      'show whether the e-mail address is registered.',
    example: 'The e-mail address or the password is wrong.',
    remedy: 'Check the e-mail address and the password. A refresh token works once; after that, log in again.',
  },
  forbidden: {
    when:
      'The access token is valid, but its account may not do this: the resource belongs to another account, or a ' +
      'staff scope is missing.',
    example: 'This operation needs the scope orders:fulfil.',
    remedy:
      'Use an account with the permission. After a scope was granted, get a new access token: the token contains ' +
      'the scopes.',
  },
  'account-blocked': {
    when:
      'The staff of the shop has blocked the account. A log-in has the right password, or a request has a valid token ' +
      'and changes the password or the e-mail address of the account, or has it erased.',
    example: 'This account is blocked. Contact the shop.',
    remedy: 'Show this to the holder, who has to contact the shop. Do not try again.',
  },
  'email-not-verified': {
    when:
      'This shop takes orders only from accounts with a verified e-mail address, and the access token says that the ' +
      'address of this account is not verified.',
    example: 'The e-mail address must be verified first. Nothing was ordered.',
    remedy:
      'Send the token of the e-mail to `POST /v1/email-verifications`, or ask for another e-mail with ' +
      '`POST /v1/email-verifications/resend`. Then renew the access token, and send the order again, with the same ' +
      '`Idempotency-Key` if it has one.',
  },
  'reauthentication-required': {
    when:
      'The request changes the password or the e-mail address of an account without its `current_password`, or it ' +
      'exports the data of the account. Its access token was not issued by a log-in with the password in the last 5 ' +
      'minutes, or one of the two was changed since.',
    example: 'This change needs current_password, or an access token of a log-in in the last 5 minutes.',
    remedy:
      'Ask the holder for the password and log in with it, and send the request again with the new access token. A ' +
      'change can have the password as `current_password` instead.',
  },
  'wrong-password': {
    when:
      'The `current_password` of a change of the password or the e-mail address is not the password of the ' +
      'account.',
    example: 'current_password is wrong. Nothing was changed.',
    remedy: 'Ask the holder again. After too many attempts, wait for the time in `Retry-After`.',
  },
  'email-already-registered': {
    when:
      'An account with this e-mail address exists, or had it in the last 7 days and can still undo the change. Letter ' +
      'case and surrounding spaces do not matter.',
    example: 'An account with this e-mail address exists. Log in instead.',
    remedy: 'Log in to that account, or register another address.',
  },
  'order-already-shipped': {
    when: 'A cancellation was requested for an order that has been shipped or delivered.',
    example: 'The order is delivered and can no longer be cancelled.',
    remedy: 'The order is unchanged. Return the goods after they arrive.',
  },
  'units-not-in-order': {
    when:
      'At least one line of a cancellation or return has more units than the order still has of that product, or a ' +
      'product that the order does not have. Units of another return count as gone. Nothing was changed.',
    example: 'The order has fewer units than are to be cancelled. Nothing was cancelled.',
    remedy:
      'The response lists these lines with the units that are `remaining`. Lower the quantities or remove the lines.',
  },
  'invalid-transition': {
    when: 'The order or return is not in a state from which this step is possible.',
    example: 'An order that is pending cannot become delivered.',
    remedy: 'Read it: `status` is its state, and `allowedActions` lists the possible next steps.',
  },
  'return-period-ended': {
    when:
      'A customer requested to return units of an order that was delivered too long ago, or the shop accepts no ' +
      'requests from customers (`RETURN_DAYS`). Nothing was recorded.',
    example: 'The order could be returned until 2026-12-05. Nothing was recorded.',
    remedy: 'Ask the shop: staff can record a return at any time.',
  },
  'insufficient-stock': {
    when:
      'At least one line of the order exceeds the stock: nothing was ordered. Or a change of a product sets its ' +
      'stock below the quantity reserved for orders: nothing was changed.',
    example: 'There is not enough stock for the order. Nothing was ordered.',
    remedy:
      'The response lists the lines with the units that are `available`. Lower the quantities or remove the lines, ' +
      'and order again; for a product, send a higher stock.',
  },
  'hold-limit': {
    when:
      'The account would have too many orders, or too many units in them, that the shop has not begun to process. ' +
      'The limits keep one account from reserving the stock for itself. They are lower while the e-mail address is ' +
      'not verified, and rise with each delivered order. All accounts of a client network without a verified ' +
      'address share a further limit. Nothing was ordered.',
    example:
      'Of orders that are not processed yet, this account has 10, and at most 10 are permitted. Nothing was ordered. ' +
      'Order again when such an order is processed or cancelled, or order less.',
    remedy:
      'The response lists each limit with what is `held` and `requested`. Order less, cancel an order, or wait until ' +
      'one is processed; then order again with a new `Idempotency-Key`. Verify the e-mail address if it is not ' +
      'verified, and get a new access token.',
  },
  'webhook-limit': {
    when: 'The account or the machine has 20 webhooks. Nothing was added.',
    example: 'You have 20 webhooks, which is the limit. Nothing was added. Delete one first, or change one.',
    remedy: 'Delete a webhook that is no longer needed, or add types to one.',
  },
  'sku-in-use': {
    when:
      'A product was to get a `sku` that another product has, or that is the id of another product. Each `sku` ' +
      'belongs to one product. Nothing was changed.',
    example: 'Another product has this sku. Nothing was changed. Change that product, or use another sku.',
    remedy: 'The response names the other product in `productId`. Change that product, or send another `sku`.',
  },
  'variant-in-use': {
    when:
      'A product was to get the group and the options of a variant that another product has. Each combination belongs ' +
      'to one product, also when it is archived. Nothing was changed.',
    example:
      'Another product of the group has these options. Nothing was changed. Change that product, or use other options.',
    remedy: 'The response names the other product in `productId`. Change that product, or send other `options`.',
  },
  'stock-changed': {
    when:
      'A product’s stock was to be set from an `expected` number of units, and another number is on hand: an order ' +
      'shipped or goods arrived in between. Nothing was changed.',
    example: 'The stock has changed since it was read. Nothing was changed.',
    remedy: 'The response has the units that are `onHand`. Count again, or send the difference with `adjust`.',
  },
  'stock-missing': {
    when:
      'An order cannot be shipped, because not all of its units are on hand. This is possible only for products ' +
      'that are sold before they arrive (`backorder`).',
    example: 'Not all units of the order are on hand. The order is unchanged.',
    remedy:
      'The response lists the products with the units that are `onHand`. Enter the goods that arrived, and ship again.',
  },
  'price-changed': {
    when:
      'The total differs from the `expectedTotal`, or a price from the `expectedUnitPrice` of its line, because a ' +
      'price changed in between. Nothing was ordered.',
    example: 'The order costs 21.98, not 19.98. Nothing was ordered.',
    remedy: 'The response lists the old and new prices. Show them, and order again with the new prices.',
  },
  'quote-expired': {
    when: 'The `quote` of an order is older than 15 minutes, or not one of this shop. Nothing was ordered.',
    example: 'The quote was valid until 2026-11-21T03:15:00.000Z. Nothing was ordered.',
    remedy: 'Get a new quote with `POST /v1/quotes`, show its price, and order again.',
  },
  'discount-not-applicable': {
    when:
      'There is no discount with the `discountCode`, or it does not apply to the order: it has ended or not begun, the ' +
      'order costs too little, has none of its products, or the discount is used up. Nothing was ordered.',
    example: 'The discount of this code is used up.',
    remedy: 'Change the order as `detail` says, or order without the code.',
  },
  'discount-code-exists': {
    when:
      'A discount was to get a code that another discount has. Case and blanks make no difference, and archived ' +
      'discounts do not count. Nothing was changed.',
    example: 'Another discount has this code. Nothing was changed. Change or archive it, or use another code.',
    remedy: 'The response names the other discount. Change or archive it, or send another code.',
  },
  'tax-rate-exists': {
    when:
      'A tax rate was to get the country, region, category and beginning of another rate, so that it would be ' +
      'ambiguous which of them applies. Nothing was changed.',
    example:
      'Another rate has the same country, region, category and beginning. Nothing was changed. Change or archive it.',
    remedy: 'The response names the other rate. Change or archive it, or send another beginning.',
  },
  'payment-due': {
    when: 'An order was to be processed that has to be paid first, and its payment is not recorded.',
    example: 'The order is not paid. It can be processed once its payment is recorded.',
    remedy: 'Wait for the payment: `payment.status` of the order becomes `paid`.',
  },
  'payment-amount-differs': {
    when:
      'A payment was reported that is less or more than the total cost of the order. The order is not paid. The ' +
      'money is recorded, and the shop owes it back.',
    example: 'The order costs 29.00 EUR, not 19.00 EUR. The money is recorded and due as a refund.',
    remedy:
      'The response has both amounts. Pay the money back, and report this as a refund. A new payment of the right ' +
      'amount, with a reference of its own, pays the order.',
  },
  'refund-exceeds-due': {
    when: 'A refund was reported that is more than the shop owes for the order. Nothing was recorded.',
    example: 'The refund is 30.00 EUR, but 29.00 EUR is due. Nothing was recorded.',
    remedy: 'Report the amount that is `due` or less. When more was paid back, it is to be claimed from the customer.',
  },
  'not-delivered-there': {
    when:
      'No shipping method of the shop delivers the order to the country of its address, or the method that the request ' +
      'names does not. An address without a country counts as one in the country of the shop. Nothing was ordered.',
    example: 'There is no such shipping method.',
    remedy:
      'Show `GET /v1/shipping-methods?country=…` and let the customer choose. `country` is a code of ISO 3166-1 such ' +
      'as `CH`.',
  },
  'product-not-available': {
    when: 'A line of the order names a product that does not exist or is not for sale at the moment.',
    example: 'Not every product of the order is for sale. Nothing was ordered.',
    remedy: 'Remove the line, or check the product’s `status`.',
  },
  'reference-reused': {
    when:
      'A payment or refund was reported under a reference that is recorded with another order or amount. Nothing ' +
      'was changed.',
    example: 'This reference was recorded with another content. Nothing was changed.',
    remedy:
      'Check the report. Every payment and every refund needs the reference that the provider gave it; a ' +
      'repetition must not differ.',
  },
  'password-too-common': {
    when: 'The password is one of the most common ones, which attackers try first.',
    example: 'This password is among the most common ones. Choose another.',
    remedy: 'Choose a longer and less common password.',
  },
};
