// Starts a process, stops its parts in reverse order, and prints one line when the start fails.
import { ConfigError, type Environment } from './config.ts';
import { createLog, type Log, type LogLevel } from './log.ts';
import { StartError } from './start-error.ts';

/** The functions of a process that can be used while it starts. */
export interface ProcessLife {
  readonly log: Log;
  /**
   * Registers a function that stops a part. The functions run in reverse order at SIGTERM, SIGINT or a failed start.
   */
  onStop(label: string, stop: () => Promise<void> | void): void;
  /** Exits the process like a failed start, for configuration errors that are found only after the start. */
  fail(error: Error): void;
}

/** The part of a process's settings that every process has. */
export interface ProcessSettings {
  readonly logLevel: LogLevel;
}

const stopWithin = 10_000;

/**
 * Runs a process until SIGTERM or SIGINT, or until its parent has exited when it was started with an IPC channel. Then
 * it stops everything in reverse order, within 10 s, and exits with 0. A failed start prints one line for each error
 * and exits with 1.
 * @param read reads all settings of the process before anything is started. It throws a ConfigError with every error
 */
export async function runProcess<Settings extends ProcessSettings>(
  name: string,
  read: (environment: Environment) => Settings,
  start: (life: ProcessLife, settings: Settings) => Promise<void>,
): Promise<void> {
  let settings: Settings;
  try {
    settings = read(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    complain(name, error);
    process.exitCode = 1;
    return;
  }
  const log = createLog(name, settings.logLevel);
  const stops: { label: string; stop: () => Promise<void> | void }[] = [];
  let stopping: Promise<void> | undefined;

  const stopAll = async (): Promise<void> => {
    for (const { label, stop } of stops.reverse()) {
      try {
        await stop();
      } catch (error) {
        log.error({ err: error }, `could not stop ${label}`);
      }
    }
  };
  const exit = (code: number, reason: string): void => {
    if (stopping !== undefined) return;
    log.info(`stopping: ${reason}`);
    setTimeout(() => {
      log.error(`not stopped within ${stopWithin / 1000} s, exiting all the same`);
      process.exit(1);
    }, stopWithin).unref();
    stopping = stopAll().then(() => process.exit(code));
  };

  process.on('SIGTERM', () => exit(0, 'SIGTERM'));
  process.on('SIGINT', () => exit(0, 'SIGINT'));
  process.on('disconnect', () => exit(0, 'the parent process is gone'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception');
    exit(1, 'uncaught exception');
  });

  const fail = (error: unknown): void => {
    if (stopping !== undefined) return;
    if (error instanceof ConfigError || error instanceof StartError) complain(name, error);
    else log.fatal({ err: error }, 'start failed');
    exit(1, 'start failed');
  };
  await start({ log, onStop: (label, stop) => stops.push({ label, stop }), fail }, settings).catch(fail);
}

function complain(name: string, { message }: Error): void {
  for (const line of message.split('\n')) process.stderr.write(`${name}: ${line}\n`);
}
