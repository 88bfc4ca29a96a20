// DELETE /v1/tax-rates/{taxRateId}: archives a tax rate. Orders that have it are not affected.
import type { Operation } from '../context.ts';
import { removeSetting } from '../settings/setting-operations.ts';

export const archiveTaxRate: Operation<'archiveTaxRate'> = (request, context) =>
  removeSetting(request, context, 'tax-rate', request.path.taxRateId);
