// POST /v1/accounts/{accountId}/set-tax-id
import { refuseFaults } from '@shop/shared/contract';
import type { Operation } from '../context.ts';
import { withAccountForSupport } from '../support/account-for-support.ts';
import { changeTaxId, taxIdFaults } from '../support/tax-id.ts';

/** @throws Problem 400 for an invalid body, and the problems of `withAccountForSupport` */
export const setTaxId: Operation<'setTaxId'> = async (request, context) => {
  refuseFaults(request.faults, taxIdFaults(request.body));
  return withAccountForSupport(request, context, 204, (tx, { id }, entry) =>
    changeTaxId(tx, id, request.body.tax_id, entry),
  );
};
