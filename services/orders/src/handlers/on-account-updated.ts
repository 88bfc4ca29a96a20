// account.updated.v1: stores the changed contact data of a customer for staff.
import type { EventHandler } from '@shop/shared/events';
import { upsertCustomer } from '../order/customer.ts';

export const onAccountUpdated: EventHandler<'account.updated.v1'> = upsertCustomer;
