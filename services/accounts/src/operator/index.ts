// The operator's functions for accounts. The command line calls these functions in its own process.
export { announceAccounts } from './announce-accounts.ts';
export { type AuditFilter, type RecordedEntry, readAuditLog } from './audit-log.ts';
export { eraseAsOperator, findPersonalData } from './erasure.ts';
export {
  createMachine,
  listMachines,
  type Machine,
  type MachineSecret,
  revokeMachine,
  rotateMachine,
} from './machines.ts';
export { readScopesAsOperator } from './read-scopes.ts';
export { type SharedMailbox, sharedMailboxes } from './shared-mailboxes.ts';
export {
  checkSigningKeys,
  type ListedKey,
  listSigningKeys,
  revokeSigningKey,
  rotateSigningKeys,
} from './signing-keys.ts';
export { grantScopes, listStaff, revokeScopes, type Staff } from './staff.ts';
export { type StaffScope, staffScopes } from './staff-scopes.ts';
export {
  blockAsOperator,
  endSessionsAsOperator,
  findAccounts,
  type KnownAccount,
  type KnownSession,
  listSessions,
  sendPasswordResetAsOperator,
  setTaxIdAsOperator,
  showAccount,
  unblockAsOperator,
} from './support.ts';
export { type VerifiedAccount, verifyEmailAsOperator } from './verify-email.ts';
