// PATCH /v1/tax-rates/{taxRateId}: applies a merge patch (RFC 7396).
import type { Operation } from '../context.ts';
import { updateSetting } from '../settings/setting-operations.ts';

export const updateTaxRate: Operation<'updateTaxRate'> = (request, context) =>
  updateSetting(request, context, 'tax-rate', request.path.taxRateId);
