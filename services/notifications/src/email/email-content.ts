// The parts of an e-mail, and the placeholders of its templates.
import type { Kind } from './notification.ts';

/** A paragraph, the rows of a table, or a link with a label. */
export type Block = string | Table | Link;
export interface Table {
  /** `amounts` has a sum as its last row, `plain` is shown without lines. */
  readonly style: 'amounts' | 'details' | 'plain';
  readonly rows: readonly (readonly string[])[];
}
export interface Link {
  readonly link: string;
  readonly label: string;
}

/** The labels that are shown beside values. */
export interface Labels {
  readonly total: string;
  readonly carrier: string;
  readonly trackingNumber: string;
  readonly shipping: string;
  /** Stands before the name of a tax that the prices contain. */
  readonly including: string;
  /** The sentence for an order that is free of tax, because the customer owes the tax. */
  readonly reverseCharge: string;
}

/** The language and locale of an e-mail. */
export interface Wording {
  readonly language: string;
  readonly labels: Labels;
}

export interface Content {
  readonly subject: string;
  readonly blocks: readonly Block[];
}

/** Placeholders that stand on a line of their own. */
export const blockNames = ['lines', 'remaining', 'address', 'tracking', 'link', 'token'] as const;

/** The paragraphs that an e-mail can have. */
export const blocksOfKind: Readonly<Record<Kind, readonly (typeof blockNames)[number][]>> = {
  'order-received': ['lines', 'address'],
  'order-paid': [],
  'order-shipped': ['lines', 'address', 'tracking', 'link'],
  'order-cancelled': ['lines'],
  'order-lines-cancelled': ['lines', 'remaining'],
  'order-refund-due': [],
  'order-refunded': [],
  'order-return-requested': ['lines'],
  'order-return-approved': ['lines'],
  'order-return-refused': ['lines'],
  'order-return-received': ['lines'],
  'email-changed': [],
  'password-changed': [],
  'erasure-requested': [],
  'erasure-reminder': [],
  'email-verification': ['link', 'token'],
  'email-change-undo': ['link', 'token'],
  'password-reset': ['link', 'token'],
  'webhook-failing': [],
};

const ofTokens = ['request', 'until'] as const;
/** The placeholders within templates. */
export const textNames: Readonly<Record<Kind, readonly string[]>> = {
  'order-received': ['orderId', 'amount', 'payBy'],
  'order-paid': ['orderId', 'amount'],
  'order-shipped': ['orderId', 'invoiceNumber'],
  'order-cancelled': ['orderId', 'cancelledBy', 'reason', 'refund'],
  'order-lines-cancelled': ['orderId', 'cancelledBy', 'reason', 'refund'],
  'order-refund-due': ['orderId', 'amount', 'cause', 'orderCost'],
  'order-refunded': ['orderId', 'amount'],
  'order-return-requested': ['orderId'],
  'order-return-approved': ['orderId'],
  'order-return-refused': ['orderId', 'reason'],
  'order-return-received': ['orderId', 'refund', 'creditNoteNumber'],
  'email-changed': ['changedAt'],
  'password-changed': ['changedAt'],
  'erasure-requested': ['changedAt', 'eraseAt', 'sentTo'],
  'erasure-reminder': ['eraseAt', 'sentTo'],
  'email-verification': ofTokens,
  'email-change-undo': ofTokens,
  'password-reset': ofTokens,
  'webhook-failing': ['host', 'webhookId', 'stage', 'failingSince'],
};

type TextName =
  | 'orderId'
  | 'amount'
  | 'payBy'
  | 'cancelledBy'
  | 'reason'
  | 'refund'
  | 'invoiceNumber'
  | 'creditNoteNumber'
  | 'cause'
  | 'orderCost'
  | 'changedAt'
  | 'eraseAt'
  | 'sentTo'
  | 'request'
  | 'until'
  | 'host'
  | 'webhookId'
  | 'stage'
  | 'failingSince';

export type EmailValues = {
  readonly [Name in (typeof blockNames)[number]]?: Block | undefined;
} & {
  readonly [Name in TextName]?: string | undefined;
};
