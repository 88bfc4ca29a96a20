// The environment of test files: the context of the worker itself. All files of a worker share its loaded modules.
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import pg from 'pg';
import { fileVariable } from '../run-state.ts';

type Config = ConstructorParameters<typeof ModernFakeTimers>[0]['config'];

export default class WorkerEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #variables = { ...process.env };
  readonly #exit = process.exit;

  constructor({ projectConfig }: { projectConfig: Config }, { testPath }: { testPath: string }) {
    process.env[fileVariable] = testPath;
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup(): Promise<void> {}

  /** Undoes what a test file may have left: replaced functions and timers, variables, an exit code, and a parser. */
  async teardown(): Promise<void> {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    for (const name of Object.keys(process.env)) if (!(name in this.#variables)) delete process.env[name];
    Object.assign(process.env, this.#variables);
    process.exitCode = undefined;
    pg.types.setTypeParser(pg.types.builtins.INT8, String); // `connectDatabase` sets it for the whole process
    process.exit = this.#exit; // jest replaces it for each file
  }

  exportConditions(): string[] {
    return [];
  }

  getVmContext(): null {
    return null;
  }
}
