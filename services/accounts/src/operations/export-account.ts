// GET /v1/accounts/{accountId}/export: returns all data that the shop stores about the account, as one JSON document.
import type { InternalClient, OperationRequest } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { Account, toAccount } from '../account/account.ts';
import { audit } from '../account/audit.ts';
import { exportedRows, findEmailTokens, type Page, type ReadPage } from '../account/exported-rows.ts';
import { noSuchAccount, ownAccountId } from '../account/own-account.ts';
import type { CallingContext, Operation } from '../context.ts';
import { requireRecentLogIn } from '../session/reauthentication.ts';

/**
 * Streams the document while its lists are read page by page, so that its size is not limited. The first page of each
 * list is read before the first byte is sent, so that an unavailable service still causes a problem document. A later
 * failure closes the connection.
 * @throws Problem 403 for another account, and without a recent log-in; 503 when a service is unavailable
 */
export const exportAccount: Operation<'exportAccount', CallingContext> = async (request, context) => {
  const accountId = ownAccountId(request);
  const { database } = context;
  const account = await Account.findByPk(accountId);
  if (account === null) throw noSuchAccount();
  requireRecentLogIn(request, account, 'An export needs an access token of a log-in in the last 5 minutes.');
  const readOrders = pagesOf(context.orders, 'orders', accountId, request);
  const readEmails = pagesOf(context.notifications, 'notifications', accountId, request);
  const readWebhooks = pagesOf(context.changes, 'changes', accountId, request);
  const [orders, emails, webhooks] = await Promise.all([readOrders(), readEmails(), readWebhooks()]);
  await database.transaction((tx) => audit(tx, { action: 'exported', accountId, requestId: request.id, detail: {} }));
  const readSessions = exportedRows(database.pool, 'sessions', accountId);
  const readAudit = exportedRows(database.pool, 'audit', accountId);
  const [emailTokens, sessions, log] = await Promise.all([
    findEmailTokens(database.pool, accountId),
    readSessions(),
    readAudit(),
  ]);
  const { recipient } = emails as Page & { readonly recipient?: unknown };
  const single = { exported_at: new Date(), account: toAccountData(account), recipient, email_tokens: emailTokens };
  const headers = {
    'Cache-Control': 'no-store',
    'Content-Disposition': `attachment; filename="account-${accountId}.json"`,
  };
  const stream = documentOf(single, {
    sessions: allPages(sessions, readSessions),
    audit: allPages(log, readAudit),
    orders: allPages(orders, readOrders),
    emails: allPages(emails, readEmails),
    webhooks: allPages(webhooks, readWebhooks),
  });
  return { status: 200, headers, stream };
};

/** Returns the row of the account, without the digest of the password. */
function toAccountData(account: Account) {
  return {
    ...toAccount(account),
    scopes: account.scopes,
    created_at: account.createdAt,
    updated_at: account.updatedAt,
    credentials_changed_at: account.credentialsChangedAt ?? undefined,
  };
}

/** Reads the pages of a list from another service. */
function pagesOf(service: InternalClient, name: string, accountId: string, request: OperationRequest): ReadPage {
  return async (after) => {
    const { status, body } = await service.post(`/internal/accounts/${accountId}/export`, { after }, request);
    if (status === 200) return body as Page;
    throw new Problem('service-unavailable', 'A service that this request needs is unavailable. Try again shortly.', {
      headers: { 'Retry-After': '1' },
      cause: new Error(`${name} answered ${status}`),
    });
  };
}

/** Returns the pages of a list, beginning with the first one, which has been read already. */
async function* allPages(first: Page, read: ReadPage): AsyncGenerator<Page> {
  let page = first;
  yield page;
  while (page.next !== undefined) {
    page = await read(page.next);
    yield page;
  }
}

/** Yields a JSON object in pieces: first the members of `single`, then each list page by page. */
async function* documentOf(
  single: object,
  lists: Readonly<Record<string, AsyncIterable<Page>>>,
): AsyncGenerator<string> {
  yield JSON.stringify(single).slice(0, -1);
  for (const [name, pages] of Object.entries(lists)) {
    yield `,${JSON.stringify(name)}:[`;
    let separator = '';
    for await (const { items } of pages) {
      if (items.length === 0) continue;
      yield separator + JSON.stringify(items).slice(1, -1);
      separator = ',';
    }
    yield ']';
  }
  yield '}\n';
}
