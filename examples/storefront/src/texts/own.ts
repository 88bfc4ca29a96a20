// The texts of checkout, orders and account.
import { deAccount } from './de-account.ts';
import { deOrders } from './de-orders.ts';
import { enAccount } from './en-account.ts';
import { enOrders } from './en-orders.ts';

const en = { ...enAccount, ...enOrders };

export type OwnTexts = typeof en;

export const own: { readonly en: OwnTexts; readonly de: OwnTexts } = { en, de: { ...deAccount, ...deOrders } };
