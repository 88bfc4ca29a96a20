// GET /v1/shipping-methods: one page of the shipping methods.
import type { Operation } from '../context.ts';
import { listSettings } from '../settings/setting-operations.ts';

export const listShippingMethods: Operation<'listShippingMethods'> = (request, context) =>
  listSettings(request, context, 'shipping-method');
