// Where the customer is logged in, the export of the data, and the end of the account.
import type { Account, components } from '@shop/client';
import { h } from '../dom.ts';
import { dateAndTime } from '../format.ts';
import { actionButton, field, form, usernameField } from '../forms.ts';
import { navigate, refresh } from '../router.ts';
import { save } from '../save-file.ts';
import { shop } from '../shop.ts';
import { notice } from '../states.ts';
import { t } from '../texts/customers.ts';

type Session = components['schemas']['Session'];

/** The sessions that are shown at first. */
const mostShown = 5;

export function sessionsSection(sessions: readonly Session[]): HTMLElement {
  const list = h('ul', { class: 'sessions' });
  const more = h('details');
  const outcome = h('div', { class: 'outcome' });
  let shown = sessions;
  const show = (): void => {
    const older = shown.slice(mostShown);
    list.replaceChildren(...shown.slice(0, mostShown).map(row));
    more.hidden = older.length === 0;
    more.replaceChildren(
      h('summary', {}, t.olderSessions(older.length)),
      h('ul', { class: 'sessions' }, older.map(row)),
    );
    others.hidden = shown.every(({ current }) => current);
  };
  const row = ({ id, current, last_used_at: time, address, user_agent: agent }: Session): HTMLElement => {
    const end = async (): Promise<void> => {
      await shop.sessions.end(id);
      shown = shown.filter((each) => each.id !== id);
      show();
    };
    const name = current ? t.thisDevice : deviceName(agent);
    return h('li', {}, [
      h(
        'div',
        {},
        h('strong', { title: agent, dir: 'auto' }, name),
        h('small', {}, [address, ' · ', t.lastUsed(dateAndTime(time))]),
      ),
      !current && actionButton(t.endSession, end, outcome, { 'aria-label': `${t.endSession}: ${name}` }),
    ]);
  };
  const endOthers = async (): Promise<void> => {
    await shop.sessions.endOther();
    shown = shown.filter(({ current }) => current);
    show();
  };
  const others = actionButton(t.endOthers, endOthers, outcome);
  show();
  return h('div', { class: 'stack' }, list, more, outcome, others);
}

/** Returns the browser and the system of a `User-Agent`, as far as it names well-known ones. */
function deviceName(agent = ''): string {
  const browser = ['Edg', 'Firefox', 'Chrome', 'Safari'].find((name) => agent.includes(name))?.replace('Edg', 'Edge');
  const system = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'].find((name) => agent.includes(name));
  const known = [browser, system].filter((name) => name !== undefined);
  return known.length === 0 ? t.unknownDevice : known.join(', ');
}

export function dataSection({ id, email, email_verified: isVerified, erase_at: eraseAt }: Account): HTMLElement[] {
  const exportForm = form(
    {
      button: t.exportNow,
      kind: 'quiet',
      places: { 'invalid-credentials': 'current_password' },
      async send({ current_password = '' }) {
        await proveHolder(email, current_password);
        const data = await shop.accounts.export('me');
        save(new Blob([JSON.stringify(data, undefined, 2)], { type: 'application/json' }), `account-${id}.json`);
        return undefined;
      },
    },
    h('p', {}, t.exportText),
    usernameField(email),
    passwordField(),
  );
  const close = form(
    {
      button: t.closeNow,
      kind: 'danger',
      places: { 'wrong-password': 'current_password' },
      async send({ current_password = '' }) {
        const { email_verified } = await shop.accounts.erase('me', { current_password });
        if (email_verified) {
          refresh();
          return undefined;
        }
        // An account whose address was never confirmed is erased immediately.
        navigate('/', { replace: true });
        await shop.logOut().catch(() => {});
        return undefined;
      },
    },
    h('h3', {}, t.closeTitle),
    h('p', {}, isVerified ? t.closeText : t.closeTextNow),
    usernameField(email),
    passwordField(),
  );
  return [exportForm, eraseAt === undefined ? close : keepForm(email, eraseAt)];
}

function keepForm(email: string, eraseAt: string): HTMLElement {
  return form(
    {
      button: t.keepAccount,
      kind: 'primary',
      async send({ current_password = '' }) {
        await proveHolder(email, current_password);
        await shop.accounts.withdrawErasure('me');
        refresh();
        return undefined;
      },
    },
    notice('warning', t.closing(dateAndTime(eraseAt))),
    usernameField(email),
    passwordField(),
  );
}

/** The proof that the holder asks. */
export function passwordField(): HTMLElement {
  return field('current_password', t.currentPassword, {
    type: 'password',
    autocomplete: 'current-password',
    required: true,
    maxlength: 128,
  });
}

/** The shop takes a log-in with the password in the last minutes as the proof that the holder asks. */
async function proveHolder(email: string, password: string): Promise<void> {
  const { items } = await shop.sessions.list();
  await shop.logIn({ email, password });
  // The log-in begins another session in place of this one.
  const former = items.find(({ current }) => current);
  if (former !== undefined) await shop.sessions.end(former.id);
}
