// GET /v1/shipping-methods/{shippingMethodId}: one shipping method.
import type { Operation } from '../context.ts';
import { getSetting } from '../settings/setting-operations.ts';

export const getShippingMethod: Operation<'getShippingMethod'> = ({ path }, context) =>
  getSetting(context, 'shipping-method', path.shippingMethodId);
