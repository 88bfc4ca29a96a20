// One e-mail of each kind with every value that it can have, for the tests of templates and their pictures.
import { createEmailTokenSeal } from '@shop/shared/auth';
import { newId } from '@shop/shared/runtime';
import type { Sender } from '../src/email/email.ts';
import type { Occasion } from '../src/email/notification.ts';
import type { Templates } from '../src/email/templates.ts';
import type { TokenOccasion } from '../src/email/token-email.ts';
import { createTokenOpener } from '../src/email/token-email.ts';
import { someOrder } from './shop-events.ts';

const secret = 'only-for-tests-only-for-tests-only-for-tests';
const seal = createEmailTokenSeal([secret]);
const order = someOrder();
const shippingAddress = {
  recipient: 'Bo Lindqvist',
  street_address: 'Lindenweg 4',
  city: 'Basel',
  postal_code: '4052',
  country: 'CH',
};
const refund = { amount: 19.99, currency: 'EUR' };
const notice = { accountId: newId(), eventId: newId(), changedAt: '2026-11-21T03:05:00.000Z' };

const stages = ['failing-1-hour', 'failing-24-hours', 'suspended', 'unanswered', 'ended'];
const webhook = {
  ...{ webhookId: newId(), accountId: newId(), eventId: newId(), host: 'warehouse.example' },
  failingSince: '2026-11-21T03:05:00.000Z',
};

function token(kind: TokenOccasion['kind']): TokenOccasion {
  const holder = { accountId: newId(), email: 'ada@example.org' };
  const sealedToken = seal.seal(`token-${kind.replaceAll('-', '')}`, { kind, ...holder });
  return { kind, details: { ...holder, eventId: newId(), sealedToken, expiresAt: '2026-11-22T03:05:00.000Z' } };
}

export const occasions: readonly Occasion[] = [
  {
    kind: 'order-received',
    details: { ...order.created, shippingAddress, paymentDueAt: '2026-11-21T03:05:00.000Z' },
  },
  { kind: 'order-paid', details: order.paid },
  {
    kind: 'order-shipped',
    details: {
      ...order.reference,
      items: order.cancelled.items,
      shippingAddress,
      invoiceNumber: '2026-000042',
      tracking: {
        carrier: 'Post',
        tracking_number: '990012345678901234',
        tracking_url: 'https://post.example/parcels/990012345678901234',
      },
    },
  },
  { kind: 'order-cancelled', details: { ...order.cancelled, cancelledBy: 'staff', refund } },
  { kind: 'order-lines-cancelled', details: { ...order.linesCancelled, cancelledBy: 'staff', refund } },
  { kind: 'order-refund-due', details: { ...order.refundDue, orderVersion: 3, orderCost: 160.48 } },
  { kind: 'order-refunded', details: { ...order.refunded, orderVersion: 4 } },
  { kind: 'order-return-requested', details: order.returnRequested },
  { kind: 'order-return-approved', details: order.returnApproved },
  { kind: 'order-return-refused', details: order.returnRefused },
  { kind: 'order-return-received', details: { ...order.returnReceived, refund, creditNoteNumber: 'CN-2026-000007' } },
  { kind: 'email-changed', details: notice },
  { kind: 'password-changed', details: notice },
  { kind: 'erasure-requested', details: { ...notice, eraseAt: '2026-11-28T03:05:00.000Z' } },
  { kind: 'erasure-requested', details: { ...notice, eraseAt: '2026-11-28T03:05:00.000Z', former: 1 } },
  { kind: 'erasure-reminder', details: { ...notice, eraseAt: '2026-11-28T03:05:00.000Z' } },
  { kind: 'erasure-reminder', details: { ...notice, eraseAt: '2026-11-28T03:05:00.000Z', former: 1 } },
  token('email-verification'),
  token('email-change-undo'),
  token('password-reset'),
  ...stages.map((stage) => ({ kind: 'webhook-failing' as const, details: { ...webhook, stage } })),
];

/** @param links whether the operator has configured links for tokens */
export function senderWith(templates: Templates, links = false): Sender {
  const page = links ? 'https://shop.example/account#token={token}' : undefined;
  const pages = { 'email-verification': page, 'email-change-undo': page, 'password-reset': page };
  const tokens = createTokenOpener([secret], pages);
  return { shopName: 'The Shop', address: 'orders@shop.example', tokens, templates };
}
