// POST /v1/tax-rates: a new tax rate.
import type { Operation } from '../context.ts';
import { createSetting } from '../settings/setting-operations.ts';

export const createTaxRate: Operation<'createTaxRate'> = (request, context) =>
  createSetting(request, context, 'tax-rate');
