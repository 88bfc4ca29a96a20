// Environment → one typed frozen object. All mistakes are reported together.
import { type Environment, keyList, readConfig } from '@shop/shared/runtime';
import { callerVariables, serviceVariables } from '@shop/shared/service';

export function readEnvironment(environment: Environment) {
  return readConfig(environment, { ...serviceVariables, ...callerVariables, cursorKeys: keyList('CURSOR_KEYS') });
}
