// Reads the configuration again when its file changes or on SIGHUP. An invalid configuration changes nothing.
import { unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import { type Log, toReason } from '@shop/shared/runtime';
import type { Engine } from './engine.ts';

// Polling the modification time also works for a symbolic link that is replaced, such as mounted configuration in
// Kubernetes.
const pollEvery = 1_000;

/** Watches `gateway.config.yml` of a folder until closed. An invalid configuration is logged with the reason. */
export function watchConfig(folder: string, engine: Engine, log: Log): { close(): void } {
  const file = join(folder, 'gateway.config.yml');
  let running = Promise.resolve();
  const reload = (): void => {
    running = running
      .then(() => engine.reload())
      .then(
        () => log.info('configuration reloaded'),
        (error: unknown) =>
          log.error({ reason: toReason(error) }, 'configuration refused, the previous one stays in force'),
      );
  };
  watchFile(file, { interval: pollEvery, persistent: false }, reload);
  process.on('SIGHUP', reload);
  return {
    close() {
      unwatchFile(file, reload);
      process.off('SIGHUP', reload);
    },
  };
}
