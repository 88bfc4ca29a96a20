// The rate limits from which e-mails reserve their times of sending.

/**
 * The number of e-mails of one group (about orders, about the account) that a recipient gets immediately, and the time
 * in which each further one is permitted.
 */
export interface RateLimit {
  readonly burst: number;
  readonly secondsEach: number;
}

/**
 * Returns the SQL expression for the mailbox of an address: without a tag (`+shop`), because anybody can invent one for
 * a mailbox.
 */
export function mailboxSql(key: string): string {
  return `regexp_replace(${key}, '^([^+@]+)\\+[^@]*@', '\\1@')`;
}

const recipientKey = 'address_key(n.recipient)';
const holderKey = 'address_key(r.email)';

/**
 * The rate limit in which the e-mail `n` of the recipient `r` reserves its time. Any client can enter an address, but
 * only one account can own it. So verification e-mails have separate rate limits: requests of other clients delay
 * neither the notices of the owner nor the verification by the account that registered the address. An address with a
 * tag counts as entered by another client.
 */
export const emailRateLimitKey = `
  CASE
    WHEN n.order_id IS NOT NULL THEN 'order '
    WHEN n.kind = 'email-verification' AND n.details ->> 'addressState' = 'registered'
      AND ${recipientKey} = coalesce(${holderKey}, ${recipientKey})
      AND ${recipientKey} = ${mailboxSql(recipientKey)} THEN 'own verification '
    WHEN n.kind = 'email-verification' THEN 'verification '
    ELSE 'account '
  END || ${mailboxSql(`coalesce(${recipientKey}, ${holderKey}, n.account_id::text)`)}`;

/**
 * The rate limit of the client network that caused the e-mail `n`, so that one client cannot make the shop send e-mails
 * to thousands of addresses. NULL for an e-mail that no request of a client caused directly.
 */
export const networkRateLimitKey = "'network ' || (n.details ->> 'clientNetwork')";
/** How many times the e-mails of one address a client's network may cause. */
export const networkFactor = 3;
