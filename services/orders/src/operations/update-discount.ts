// PATCH /v1/discounts/{discountId}: applies a merge patch (RFC 7396).
import type { Operation } from '../context.ts';
import { updateSetting } from '../settings/setting-operations.ts';

export const updateDiscount: Operation<'updateDiscount'> = (request, context) =>
  updateSetting(request, context, 'discount', request.path.discountId);
