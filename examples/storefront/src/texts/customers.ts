// The texts of checkout, orders and account. Only their pages import this file, because it is loaded with them.
import { addTexts } from '../texts.ts';
import { deAccount } from './de-account.ts';
import { deOrders } from './de-orders.ts';
import { enAccount } from './en-account.ts';
import { enOrders } from './en-orders.ts';

type Texts = typeof enAccount & typeof enOrders;

export const t = addTexts<Texts>({ en: { ...enAccount, ...enOrders }, de: { ...deAccount, ...deOrders } });
