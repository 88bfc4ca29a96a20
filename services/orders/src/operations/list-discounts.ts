// GET /v1/discounts: one page of the discounts.
import type { Operation } from '../context.ts';
import { listSettings } from '../settings/setting-operations.ts';

export const listDiscounts: Operation<'listDiscounts'> = (request, context) =>
  listSettings(request, context, 'discount');
