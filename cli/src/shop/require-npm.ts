// Rejects commands that read the data folder of `npm start` in other installations.
import { StartError } from '@shop/shared/runtime';
import { readInstallation } from '@shop/shared/shop';
import { givenEnvironment } from './settings.ts';

/**
 * @param instead the command for other installations
 * @throws StartError when the shop was not started by npm
 */
export function requireNpm(command: string, instead: string): void {
  if (readInstallation(givenEnvironment()) === 'npm') return;
  throw new StartError(`${command} works with a shop of npm start only: run ${instead}`);
}
