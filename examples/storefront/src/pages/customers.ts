// The pages that are loaded together.
import { isLoggedIn, onSession } from '../shop.ts';
import { forgetTerms } from './checkout.ts';

export { accountPage } from './account.ts';
export { checkoutPage } from './checkout.ts';
export { resetPage, undoPage, verifyPage } from './e-mail-links.ts';
export { logInPage } from './log-in.ts';
export { orderPage } from './order.ts';
export { ordersPage } from './orders.ts';
export { registerPage } from './register.ts';

// The next customer of this browser gets no address of the former one.
onSession(() => void (isLoggedIn() || forgetTerms()));
