// GET /v1/tax-rates/{taxRateId}: one tax rate.
import type { Operation } from '../context.ts';
import { getSetting } from '../settings/setting-operations.ts';

export const getTaxRate: Operation<'getTaxRate'> = ({ path }, context) =>
  getSetting(context, 'tax-rate', path.taxRateId);
