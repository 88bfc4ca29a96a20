// account.updated.v1: stores how staff can reach a customer from now on.
import type { EventHandler } from '@shop/shared/events';
import { keepCustomer } from './customer.ts';

export const onAccountUpdated: EventHandler<'account.updated.v1'> = keepCustomer;
