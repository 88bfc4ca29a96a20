import type { AccessRules } from '@shop/shared/testing';

export const accessRules: AccessRules = {
  listChanges: { public: true, expected: () => 200 },
  followChanges: { public: true, streams: true, expected: () => 200 },
};
