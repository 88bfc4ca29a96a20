// POST /v1/shipping-methods: a new shipping method.
import type { Operation } from '../context.ts';
import { createSetting } from '../settings/setting-operations.ts';

export const createShippingMethod: Operation<'createShippingMethod'> = (request, context) =>
  createSetting(request, context, 'shipping-method');
