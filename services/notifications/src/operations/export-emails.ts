// POST /internal/accounts/{accountId}/export: one page of the e-mails to an account, for the export of its data.
import type { Operation } from '../context.ts';
import type { components } from '../generated.ts';

type ExportedEmail = components['schemas']['ExportedEmail'];

interface EmailRow {
  readonly id: string;
  readonly kind: string;
  readonly order_id: string | null;
  readonly recipient: string | null;
  readonly status: ExportedEmail['status'];
  readonly attempts: number;
  readonly resends: number;
  readonly created_at: Date;
  readonly settled_at: Date | null;
}

interface RecipientRow {
  readonly email: string;
  readonly verified: boolean;
  readonly name: string;
  readonly locale: string | null;
  readonly updated_at: Date;
}

const pageSize = 200;
const beforeAll = '00000000-0000-0000-0000-000000000000';

/** Oldest first, with the recipient on each page. E-mails are never deleted, and their ids are ordered by time. */
export const exportEmails: Operation<'exportEmails'> = async ({ path, body }, { database }) => {
  const { after = beforeAll } = body;
  const [recipients, emails] = await Promise.all([
    database.pool.query<RecipientRow>(
      'SELECT email, verified, name, locale, updated_at FROM recipients WHERE account_id = $1',
      [path.accountId],
    ),
    database.pool.query<EmailRow>(
      `SELECT id, split_part(kind, ' ', 1) AS kind, order_id, recipient, status, attempts, resends,
         created_at, settled_at
       FROM notifications WHERE account_id = $1 AND id > $2 ORDER BY id LIMIT ${pageSize}`,
      [path.accountId, after],
    ),
  ]);
  const [recipient] = recipients.rows;
  const next = emails.rows.length < pageSize ? undefined : emails.rows.at(-1)?.id;
  return {
    status: 200,
    body: {
      ...(recipient && { recipient: toRecipient(recipient) }),
      items: emails.rows.map(toEmail),
      ...(next !== undefined && { next }),
    },
  };
};

function toRecipient({ email, verified, name, locale, updated_at }: RecipientRow): components['schemas']['Recipient'] {
  const language = locale === null ? {} : { locale };
  return { email, emailVerified: verified, name, ...language, updatedAt: updated_at.toISOString() };
}

function toEmail({ id, kind, order_id, recipient, status, attempts, ...row }: EmailRow): ExportedEmail {
  return {
    id,
    kind,
    ...(order_id !== null && { orderId: order_id }),
    ...(recipient !== null && { address: recipient }),
    status,
    attempts,
    ...(row.resends > 0 && { resends: row.resends }),
    createdAt: row.created_at.toISOString(),
    ...(row.settled_at !== null && { settledAt: row.settled_at.toISOString() }),
  };
}
