import { newId } from '@shop/shared/runtime';
import {
  type AccessCaller,
  type AccessRule,
  type AccessRules,
  type AccessTarget,
  unlessAbsent,
} from '@shop/shared/testing';

const ownAccount = (caller: AccessCaller, target: AccessTarget) => (caller === 'owner' && target === 'own' ? 200 : 403);

/** None of the accounts of the test has scopes, and none is the staff's own. */
const support = (status: number): AccessRule => ({
  resource: 'account',
  scope: 'accounts:support',
  body: () => ({ reason: 'Asked by the holder' }),
  expected: unlessAbsent(status),
});

export const someone = { name: 'Someone', email: 'someone@example.com', password: 'a quiet green door' };

export const accessRules: AccessRules = {
  registerAccount: {
    public: true,
    body: () => ({ ...someone, email: `${newId()}@example.com` }),
    expected: () => 201,
  },
  // The query has neither an e-mail address nor the beginning of one.
  findAccounts: { scope: 'accounts:support', expected: () => 400 },
  blockAccount: support(204),
  unblockAccount: support(204),
  endAccountSessions: support(204),
  sendPasswordReset: support(202),
  setTaxId: {
    ...support(204),
    body: () => ({ tax_id: { country: 'AT', value: 'ATU12345678' }, reason: 'Asked by the holder' }),
  },
  listAccountAudit: { resource: 'account', scope: 'accounts:support', expected: unlessAbsent(200) },
  getAccount: { resource: 'account', expected: ownAccount },
  // The owner's token comes from a log-in.
  exportAccount: { resource: 'account', expected: ownAccount },
  updateAccount: { resource: 'account', body: () => ({ phone_number: '+49 30 1234' }), expected: ownAccount },
  eraseAccount: {
    resource: 'account',
    body: () => ({ current_password: 'a wrong password' }),
    expected: () => 403,
  },
  withdrawErasure: {
    resource: 'account',
    expected: (caller, target) => (ownAccount(caller, target) === 200 ? 204 : 403),
  },
  verifyEmail: { public: true, body: () => ({ token: 'none' }), expected: () => 400 },
  resendVerification: { expected: (caller) => (caller === 'owner' ? 202 : 404) },
  undoEmailChange: { public: true, body: () => ({ token: 'none' }), expected: () => 400 },
  requestPasswordReset: { public: true, body: () => ({ email: `${newId()}@example.com` }), expected: () => 202 },
  confirmPasswordReset: {
    public: true,
    body: () => ({ token: 'none', password: 'a quiet green door' }),
    expected: () => 400,
  },
  issueToken: {
    public: true,
    body: () => ({ email: 'none@example.com', password: 'wrong password' }),
    expected: () => 401,
  },
  revokeToken: { public: true, body: () => ({ refresh_token: 'none' }), expected: () => 204 },
  listSessions: { expected: () => 200 },
  endOtherSessions: { expected: () => 204 },
  endSession: {
    resource: 'session',
    expected: (caller, target) => (caller === 'owner' && target === 'own' ? 204 : 404),
  },
  getKeySet: { public: true, expected: () => 200 },
};
