// POST /v1/discounts: a new discount.
import type { Operation } from '../context.ts';
import { createSetting } from '../settings/setting-operations.ts';

export const createDiscount: Operation<'createDiscount'> = (request, context) =>
  createSetting(request, context, 'discount');
