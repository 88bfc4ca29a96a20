// Create an account, and go back to where one was.
import { returnAddress, withReturn } from '../customers.ts';
import { h } from '../dom.ts';
import { field, form, newPasswordField } from '../forms.ts';
import { type Address, navigate, type View } from '../router.ts';
import { shop } from '../shop.ts';
import { t } from '../texts/customers.ts';
import { entry } from './log-in.ts';

export async function registerPage({ query }: Address): Promise<View> {
  const next = returnAddress(query);
  const element = form(
    {
      button: t.register,
      places: { 'email-already-registered': 'email' },
      async send({ name = '', email = '', password = '' }) {
        await shop.register({ name, email, password, locale: t.language });
        await shop.logIn({ email, password });
        navigate(next === '/' ? '/account' : next, { replace: true });
        return undefined;
      },
    },
    h('p', {}, t.registerText),
    field('name', t.name, { autocomplete: 'name', required: true }),
    field('email', t.email, { type: 'email', autocomplete: 'username', required: true }),
    newPasswordField(t.password),
  );
  const logIn = h('p', {}, t.hasAccount, ' ', h('a', { href: withReturn('/log-in', next) }, t.logIn));
  return { title: t.register, content: entry(t.register, element, logIn) };
}
