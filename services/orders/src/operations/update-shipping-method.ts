// PATCH /v1/shipping-methods/{shippingMethodId}: applies a merge patch (RFC 7396).
import type { Operation } from '../context.ts';
import { updateSetting } from '../settings/setting-operations.ts';

export const updateShippingMethod: Operation<'updateShippingMethod'> = (request, context) =>
  updateSetting(request, context, 'shipping-method', request.path.shippingMethodId);
