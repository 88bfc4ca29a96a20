// The values that options of the command line accept. Its help loads them, so this module imports no other.
export const staffScopes = [
  'accounts:support',
  'catalogue:write',
  'orders:fulfil',
  'orders:read-all',
  'payments:write',
] as const;
export type StaffScope = (typeof staffScopes)[number];
