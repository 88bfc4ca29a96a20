// The values that options of the command line accept. The help of the command line loads this module, so it imports no
// other.
export const staffScopes = [
  'accounts:support',
  'catalogue:write',
  'orders:fulfil',
  'orders:read-all',
  'payments:write',
  'settings:write',
  'webhooks:write',
] as const;
export type StaffScope = (typeof staffScopes)[number];
