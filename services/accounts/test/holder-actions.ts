// What the holder of an account, or a thief, does in the tests of recovery and erasure.
import { expect } from '@jest/globals';
import type { TestAnswer } from '@shop/shared/testing';
import { emailTokenOf, type Holder, password, type TestAccounts, verify } from './accounts.ts';

/** The password that the holder sets by a reset. */
export const recovered = 'a short and loud brook';

/** Status and problem code. */
export const codeOf = ({ status, body }: TestAnswer) => [status, body?.code];

/** Returns the actions of the present holder, unless a call names another one. */
export function holderActions(accounts: () => TestAccounts, present: () => Holder) {
  const post = (path: string, body: object, token?: string) =>
    accounts().client.post(path, token === undefined ? { body } : { body, token });
  const patch = (body: object, { path, token } = present()) => accounts().client.patch(path, { token, body });
  const confirmReset = async ({ id } = present(), secret = recovered) =>
    post('/v1/password-resets/confirm', {
      token: await emailTokenOf(accounts(), id, 'password-reset'),
      password: secret,
    });
  return {
    environment: () => ({ DATABASE_URL: accounts().services.database.urls.accounts }),
    post,
    patch,
    read: async ({ path, token } = present()) => (await accounts().client.get(path, { token })).body,
    erase: ({ token } = present(), secret = password) =>
      post('/v1/accounts/me/erase', { current_password: secret }, token),
    async changeTo(email: string, secret = password): Promise<void> {
      expect((await patch({ email, current_password: secret })).status).toBe(200);
      expect((await verify(accounts(), present().id)).status).toBe(204);
    },
    async undo(token?: string) {
      const sent = token ?? (await emailTokenOf(accounts(), present().id, 'email-change-undo'));
      return post('/v1/email-verifications/undo', { token: sent });
    },
    confirmReset,
    async reset(email: string, account = present(), secret = recovered) {
      await post('/v1/password-resets', { email });
      return confirmReset(account, secret);
    },
  };
}
