// account.registered.v1: stores how staff can reach a new customer.
import type { EventHandler } from '@shop/shared/events';
import { keepCustomer } from './customer.ts';

export const onAccountRegistered: EventHandler<'account.registered.v1'> = keepCustomer;
