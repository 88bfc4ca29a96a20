// account.registered.v1: stores the contact data of a new customer for staff.
import type { EventHandler } from '@shop/shared/events';
import { upsertCustomer } from '../order/customer.ts';

export const onAccountRegistered: EventHandler<'account.registered.v1'> = upsertCustomer;
