// The account of the customer: name, e-mail address, password, address, sessions, data.
import type { Account } from '@shop/client';
import { addressChange, addressFields } from '../address-fields.ts';
import { h } from '../dom.ts';
import { field, form, newPasswordField, usernameField } from '../forms.ts';
import { panel } from '../panel.ts';
import { type Address, navigate, type View } from '../router.ts';
import { shop } from '../shop.ts';
import { notice } from '../states.ts';
import { t } from '../texts/customers.ts';
import { dataSection, passwordField, sessionsSection } from './account-data.ts';

export async function accountPage({ signal }: Address): Promise<View> {
  const [account, sessions] = await Promise.all([shop.me(), shop.sessions.list({ signal })]);
  const logOut = async (): Promise<void> => {
    navigate('/');
    await shop.logOut().catch(() => {});
  };
  const content = h('div', { class: 'page account' }, [
    h('div', { class: 'page-head' }, [
      h('h1', {}, t.yourAccount),
      h('div', { class: 'actions' }, [
        h('a', { class: 'button', href: '/orders' }, t.yourOrders),
        h('button', { type: 'button', onclick: logOut }, t.logOut),
      ]),
    ]),
    h('div', { class: 'account-parts' }, [
      panel(t.profile, profileForm(account)),
      panel(t.emailTitle, ...emailParts(account)),
      panel(t.addressTitle, h('p', {}, t.addressText), addressForm(account)),
      panel(t.passwordTitle, passwordForm(account)),
      panel(t.sessionsTitle, sessionsSection(sessions.items)),
      panel(t.dataTitle, ...dataSection(account)),
    ]),
  ]);
  return { title: t.yourAccount, content };
}

function profileForm({ name, phone_number: phone }: Account): HTMLElement {
  return form(
    {
      button: t.save,
      kind: 'quiet',
      async send({ name: next = '', phone_number = '' }) {
        await shop.accounts.update('me', { name: next, phone_number: phone_number === '' ? null : phone_number });
        return t.saved;
      },
    },
    field('name', t.name, { value: name, autocomplete: 'name', required: true }),
    field('phone_number', t.phone, {
      value: phone,
      type: 'tel',
      autocomplete: 'tel',
      maxlength: 32,
      hint: t.phoneHint,
    }),
  );
}

function emailParts({ email, email_verified: isVerified, pending_email: pending }: Account): HTMLElement[] {
  const resend = form(
    {
      button: t.resend,
      kind: 'quiet',
      async send() {
        await shop.resendVerification();
        return t.resent;
      },
    },
    isVerified ? undefined : h('p', {}, t.emailOpenText),
  );
  const state = h(
    'span',
    { class: isVerified ? 'state delivered' : 'state pending' },
    isVerified ? t.emailConfirmed : t.emailOpen,
  );
  return [
    h('p', {}, h('bdi', {}, t.emailIs(email)), ' ', state),
    ...(pending === undefined ? [] : [notice('info', h('bdi', {}, t.emailPending(pending)))]),
    ...(isVerified && pending === undefined ? [] : [resend]),
    form(
      {
        button: t.changeEmail,
        kind: 'quiet',
        places: { 'wrong-password': 'current_password', 'email-already-registered': 'email' },
        async send({ email: next = '', current_password = '' }) {
          await shop.accounts.update('me', { email: next, current_password });
          return t.emailChanged;
        },
      },
      field('email', t.newEmail, { type: 'email', autocomplete: 'email', required: true }),
      passwordField(),
    ),
  ];
}

function addressForm({ shipping_address: address }: Account): HTMLElement {
  return form(
    {
      button: t.save,
      kind: 'quiet',
      async send(values) {
        await shop.accounts.update('me', { shipping_address: addressChange(values) });
        return t.saved;
      },
    },
    addressFields(address ?? {}, { hasRecipient: false }),
  );
}

function passwordForm({ email }: Account): HTMLElement {
  return form(
    {
      button: t.changePassword,
      kind: 'quiet',
      places: { 'wrong-password': 'current_password' },
      async send({ password = '', current_password = '' }) {
        await shop.accounts.update('me', { password, current_password });
        // The change ends every session, this one included.
        await shop.logIn({ email, password });
        return t.passwordChanged;
      },
    },
    usernameField(email),
    passwordField(),
    newPasswordField(t.newPassword),
  );
}
