// The lists for staff: the found accounts, and the audit log of an account.
import {
  boolean,
  type Collection,
  type CollectionSpec,
  type Cursors,
  json,
  matched,
  none,
  openCollection,
  ordered,
  text,
  time,
  uuid,
} from '@shop/shared/collection';
import { staffFields } from '../account/account-columns.ts';
import { authorSql } from '../account/audit.ts';
import { mailboxCondition } from '../account/mailbox.ts';

/** The members by which staff recognises an account. Staff sees no other members. */
const accounts = {
  from: 'accounts',
  parameters: ['email', 'q'],
  fields: {
    id: { type: uuid(), operators: none, column: 'id', sortable: true },
    email: { type: text(254), operators: none, column: 'email' },
    email_verified: { type: boolean(), operators: none, column: 'email_verified' },
    pending_email: { type: text(254), operators: none, column: 'pending_email', nullable: true },
    ...staffFields,
    staff: { type: boolean(), operators: none, column: `(scopes <> '{}')` },
    erase_at: { type: time(), operators: none, column: 'erase_at', nullable: true },
    blocked_at: { type: time(), operators: none, column: 'blocked_at', nullable: true },
    created_at: { type: time(), operators: none, column: 'created_at' },
  },
  // Accounts are sorted by id, because ids contain the time of the registration.
  defaultSort: [{ field: 'id', direction: 'desc' }],
} as const satisfies Omit<CollectionSpec, 'name'>;

const byEmail: CollectionSpec = {
  ...accounts,
  name: 'accounts-by-email',
  scope: { key: { condition: mailboxCondition, cast: 'text' } },
};

/**
 * Returns the SQL condition that the e-mail address or the name begins with a prefix that `emailKey` has normalized.
 */
export function prefixCondition(prefix: string): string {
  return `(mailbox_key ^@ ${prefix} OR email_key ^@ ${prefix} OR (name_key(name) COLLATE "C") ^@ name_key(${prefix}))`;
}

const byPrefix: CollectionSpec = {
  ...accounts,
  name: 'accounts-by-prefix',
  scope: {
    key: { condition: prefixCondition, cast: 'text' },
  },
};

const audit: CollectionSpec = {
  name: 'account-audit',
  from: 'audit_log',
  scope: { account: { column: 'account_id', cast: 'uuid' } },
  fields: {
    id: { type: uuid(), operators: none, column: 'id', sortable: true },
    created_at: { type: time(), operators: ordered, column: 'created_at', sortable: true },
    action: { type: text(100), operators: matched, column: 'action' },
    by: { type: text(10), operators: none, column: authorSql },
    staff_id: { type: uuid(), operators: none, column: 'staff_id', nullable: true },
    reason: { type: text(500), operators: none, column: 'reason', nullable: true },
    request_id: { type: text(200), operators: none, column: 'request_id', nullable: true },
    detail: { type: json(), operators: none, column: 'detail' },
  },
  defaultSort: [
    { field: 'created_at', direction: 'desc' },
    { field: 'id', direction: 'desc' },
  ],
};

export interface SupportCollections {
  readonly byEmail: Collection<unknown>;
  readonly byPrefix: Collection<unknown>;
  readonly audit: Collection<unknown>;
}

export function openSupportCollections(cursors: Cursors): SupportCollections {
  return {
    byEmail: openCollection(byEmail, cursors),
    byPrefix: openCollection(byPrefix, cursors),
    audit: openCollection(audit, cursors),
  };
}
