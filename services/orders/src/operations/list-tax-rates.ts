// GET /v1/tax-rates: one page of the tax rates.
import type { Operation } from '../context.ts';
import { listSettings } from '../settings/setting-operations.ts';

export const listTaxRates: Operation<'listTaxRates'> = (request, context) => listSettings(request, context, 'tax-rate');
