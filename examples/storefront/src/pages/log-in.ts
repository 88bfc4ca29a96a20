// Log in, and go back to where one was.
import { isShopError } from '@shop/client';
import { returnAddress, withReturn } from '../customers.ts';
import { type Child, h } from '../dom.ts';
import { field, form } from '../forms.ts';
import { type Address, navigate, type View } from '../router.ts';
import { isLoggedIn, onSession, shop } from '../shop.ts';
import { t } from '../texts/customers.ts';

export async function logInPage({ query, signal }: Address): Promise<View> {
  const next = returnAddress(query);
  // The log-in may happen in another tab.
  const end = onSession(() => isLoggedIn() && navigate(next, { replace: true }));
  signal.addEventListener('abort', end);
  const element = form(
    {
      button: t.logIn,
      async send({ email = '', password = '' }) {
        try {
          await shop.logIn({ email, password });
        } catch (error) {
          if (isShopError(error, 'issueToken') && error.status === 401) throw new Error(t.wrongLogIn, { cause: error });
          throw error;
        }
        return undefined;
      },
    },
    field('email', t.email, {
      type: 'email',
      autocomplete: 'username',
      required: true,
      value: query.get('email') ?? '',
    }),
    field('password', t.password, { type: 'password', autocomplete: 'current-password', required: true }),
  );
  const forgotten = h('a', { href: '/reset' }, t.forgotten);
  const register = h('p', {}, t.noAccount, ' ', h('a', { href: withReturn('/register', next) }, t.register));
  return { title: t.logIn, content: entry(t.logIn, element, h('p', {}, forgotten), register) };
}

/** A page with one form in the middle. */
export function entry(title: string, ...content: readonly Child[]): HTMLElement {
  return h('div', { class: 'page entry' }, h('section', { class: 'panel' }, h('h1', {}, title), content));
}
