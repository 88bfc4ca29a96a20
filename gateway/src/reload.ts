// Reads the configuration again when its file changes or on SIGHUP; one that does not hold changes nothing.
import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '@shop/shared/runtime';
import type { Engine } from './engine.ts';

// Asking for the time of the file also works where it is a link that is switched, as mounted configuration is.
const every = 1_000;

/** Follows `gateway.config.yml` of a folder until closed. A refusal is one line in the log that says why. */
export function watchConfig(folder: string, engine: Engine, log: Log): { close(): void } {
  const file = join(folder, 'gateway.config.yml');
  let running = Promise.resolve();
  const reload = (): void => {
    running = running
      .then(() => engine.reload())
      .then(
        () => log.info('configuration reloaded'),
        (error: Error) => log.error({ reason: error.message }, 'configuration refused, the old one stays'),
      );
  };
  watchFile(file, { interval: every, persistent: false }, reload);
  process.on('SIGHUP', reload);
  return {
    close() {
      unwatchFile(file, reload);
      process.off('SIGHUP', reload);
    },
  };
}
