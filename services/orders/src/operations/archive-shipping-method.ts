// DELETE /v1/shipping-methods/{shippingMethodId}: archives a shipping method. Orders that have it are not affected.
import type { Operation } from '../context.ts';
import { removeSetting } from '../settings/setting-operations.ts';

export const archiveShippingMethod: Operation<'archiveShippingMethod'> = (request, context) =>
  removeSetting(request, context, 'shipping-method', request.path.shippingMethodId);
