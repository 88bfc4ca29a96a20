// The access rules of all services and of the board.
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type AccessCaller,
  type AccessRule,
  type AccessRules,
  type AccessTarget,
  scopesOf,
  unlessAbsent,
} from '@shop/shared/testing';

const board: AccessRules = {
  watchBoard: { scope: 'orders:read-all', streams: true, expected: () => 200 },
  traceOrderOnBoard: { resource: 'order', scope: 'orders:read-all', expected: unlessAbsent(200) },
};

const services = await Promise.all(
  globSync('services/*/test/access-rules.ts', { cwd: fileURLToPath(new URL('../../..', import.meta.url)) }).map(
    async (file) => ((await import(`../../../${file}`)) as { accessRules: AccessRules }).accessRules,
  ),
);

export const rules: AccessRules = Object.assign({}, ...services, board);

/** Returns the status of a refusal for which the token alone is enough; undefined when the caller is permitted. */
export function refusal(rule: AccessRule, caller: AccessCaller): 401 | 403 | undefined {
  if (rule.public === true) return undefined;
  if (caller === 'nobody' || caller === 'expired' || caller === 'forged') return 401;
  if (caller === 'machine' && rule.scope === undefined && rule.forMachines !== true) return 403;
  return rule.scope === undefined || scopesOf(caller).includes(rule.scope) ? undefined : 403;
}

export function expectedStatus(rule: AccessRule, caller: AccessCaller, target: AccessTarget): number {
  return refusal(rule, caller) ?? rule.expected(caller, target);
}
