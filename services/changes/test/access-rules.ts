import type { AccessRules } from '@shop/shared/testing';

export const accessRules: AccessRules = {
  listChanges: { expected: () => 200 },
  followChanges: { expected: () => 200 },
};
