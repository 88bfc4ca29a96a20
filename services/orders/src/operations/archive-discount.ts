// DELETE /v1/discounts/{discountId}: archives a discount. Orders that have it are not affected.
import type { Operation } from '../context.ts';
import { removeSetting } from '../settings/setting-operations.ts';

export const archiveDiscount: Operation<'archiveDiscount'> = (request, context) =>
  removeSetting(request, context, 'discount', request.path.discountId);
