// The pages to which e-mails link. The token is behind the `#`, so that no server writes it into its log. It is sent when
// the visitor presses the button, because some e-mail programs open links by themselves.
import { isShopError } from '@shop/client';
import { h } from '../dom.ts';
import { field, form, newPasswordField, usernameField } from '../forms.ts';
import type { View } from '../router.ts';
import { isLoggedIn, shop } from '../shop.ts';
import { notice } from '../states.ts';
import { t } from '../texts/customers.ts';
import { entry } from './log-in.ts';

/** Without a token, the page sends the e-mail that has one. */
export async function resetPage(): Promise<View> {
  const title = t.resetTitle;
  if (tokenNow() === '') {
    const element = form(
      {
        button: t.resetSend,
        async send({ email = '' }) {
          await shop.requestPasswordReset({ email });
          return h('span', { dir: 'auto' }, t.resetSent(email));
        },
      },
      h('p', {}, t.resetText),
      field('email', t.email, { type: 'email', autocomplete: 'username', required: true }),
    );
    return { title, content: entry(title, element) };
  }
  const element = form(
    {
      button: t.resetSave,
      async send({ password = '' }) {
        await useToken((token) => shop.confirmPasswordReset({ token, password }));
        await shop.logOut().catch(() => {});
        element.replaceChildren(
          notice('success', t.resetDone),
          h('a', { class: 'button primary', href: '/log-in' }, t.logIn),
        );
        return undefined;
      },
    },
    h('p', {}, t.resetChoose),
    usernameField(''),
    newPasswordField(t.newPassword),
  );
  return { title, content: entry(title, element) };
}

export const verifyPage = (): Promise<View> =>
  confirmation(t.verifyTitle, t.verifyText, t.verifyNow, t.verifyDone, (token) => shop.verifyEmail({ token }));

export const undoPage = (): Promise<View> =>
  confirmation(t.undoTitle, t.undoText, t.undoNow, t.undoDone, (token) => shop.undoEmailChange({ token }));

async function confirmation(
  title: string,
  text: string,
  button: string,
  done: string,
  send: (token: string) => Promise<unknown>,
): Promise<View> {
  if (tokenNow() === '') return { title, content: entry(title, notice('warning', t.missingToken)) };
  const options = {
    button,
    async send() {
      await useToken(send);
      const next = isLoggedIn()
        ? h('a', { class: 'button primary', href: '/account' }, t.toAccount)
        : h('a', { class: 'button primary', href: '/' }, t.toShop);
      element.replaceChildren(notice('success', done), next);
      return undefined;
    },
  };
  const element = form(options, h('p', {}, text));
  return { title, content: entry(title, element) };
}

function tokenNow(): string {
  return new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
}

/** @throws Error with the text for the visitor when the token is used up or too old; ShopError */
async function useToken(send: (token: string) => Promise<unknown>): Promise<void> {
  try {
    await send(tokenNow());
  } catch (error) {
    if (isShopError(error) && (error.problem?.code as string | undefined) === 'invalid-token')
      throw new Error(t.tokenInvalid, { cause: error });
    throw error;
  }
}
