// GET /v1/discounts/{discountId}: one discount.
import type { Operation } from '../context.ts';
import { getSetting } from '../settings/setting-operations.ts';

export const getDiscount: Operation<'getDiscount'> = ({ path }, context) =>
  getSetting(context, 'discount', path.discountId);
