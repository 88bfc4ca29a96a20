// The account that an operation for staff acts on.
import type { Transaction } from '@shop/shared/database';
import { idempotent, type OperationRequest, type Result, requireCaller } from '@shop/shared/http';
import { Problem } from '@shop/shared/problem';
import { Account } from '../account/account.ts';
import { inTransaction } from '../account/models.ts';
import type { Context } from '../context.ts';
import type { SupportRequest } from './support.ts';

interface SupportOperationRequest extends OperationRequest {
  readonly path: Readonly<Record<string, string>> & { readonly accountId: string };
  readonly body: { readonly reason: string };
}

/**
 * Runs `act` with the locked account in one transaction. Members of staff cannot act on accounts of staff: with the
 * scope `accounts:support` they could otherwise lock out each other and their supervisors.
 * @param status the status of the response
 * @throws Problem 404 for an unknown account, 403 for the caller's own account and for one with scopes
 */
export function withAccountForSupport(
  request: SupportOperationRequest,
  context: Context,
  status: 202 | 204,
  act: (tx: Transaction, account: Account, entry: SupportRequest) => Promise<unknown>,
): Promise<Result<never>> {
  const { accountId: staffId } = requireCaller(request);
  const { reason } = request.body;
  return idempotent<never>(request, context, async (tx) => {
    const account = await Account.findByPk(request.path.accountId, inTransaction(tx, 'UPDATE'));
    if (account === null) throw noSuchAccount();
    if (account.id === staffId) throw new Problem('forbidden', 'This is your own account. Ask a colleague.');
    if (account.scopes.length > 0) {
      throw new Problem('forbidden', 'This account has scopes of staff. Ask an operator, who uses the command line.');
    }
    await act(tx, account, { requestId: request.id, traceparent: request.traceparent, author: { staffId, reason } });
    return { status };
  });
}

export function noSuchAccount(): Problem {
  return new Problem('not-found', 'There is no such account.');
}
