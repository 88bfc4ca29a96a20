// Loads test files with the module loader of Node.js. The loader of jest would load, compile and evaluate every module
// again for each test file.
import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type WorkerEnvironment from './environment.ts';

const require = createRequire(import.meta.url);
const globals = new URL('./globals.ts', import.meta.url).href;
/** The event handlers of jest-circus: two of its own, which are first, and those that each test file adds. */
const handlers = Symbol.for('EVENT_HANDLERS');

/** The number of test files that this worker has run. */
let runs = 0;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: globals, format: 'module-typescript', shortCircuit: true };
    // The client is tested from its sources. Without this condition, `@shop/client` would be the built package.
    const found = next(specifier, { ...context, conditions: [...(context.conditions ?? []), '@shop/source'] });
    // A test file that another one imports defines its tests again.
    return found.url.endsWith('.test.ts') ? { ...found, url: `${found.url}?${runs}` } : found;
  },
});

/** The methods of jest's runtime that jest-runner and jest-circus call. */
export default class NodeRuntime {
  readonly #environment: WorkerEnvironment;

  constructor(_config: object, environment: WorkerEnvironment) {
    this.#environment = environment;
  }

  /** Loads jest-circus for the next test file, without the tests and event handlers of the file before. */
  requireInternalModule(path: string): unknown {
    const circus = require('jest-circus') as typeof import('jest-circus');
    const loaded = require(path);
    const symbols = Object.getOwnPropertySymbols(globalThis);
    circus.resetState();
    const state = symbols.findLast(({ description }) => description === 'JEST_STATE_SYMBOL');
    Object.assign(globalThis, state && { [state]: circus.getState() });
    (globalThis as { [handlers]?: unknown[] })[handlers]?.splice(2);
    return loaded;
  }

  requireModule(path: string): unknown {
    return require(path);
  }

  setGlobalsForRuntime(values: object): void {
    const { moduleMocker: mocks, fakeTimersModern: timers } = this.#environment;
    Object.assign(globalThis, values, {
      jest: {
        fn: mocks.fn.bind(mocks),
        spyOn: mocks.spyOn.bind(mocks),
        restoreAllMocks: mocks.restoreAllMocks.bind(mocks),
        useFakeTimers: timers.useFakeTimers.bind(timers),
        useRealTimers: timers.useRealTimers.bind(timers),
        advanceTimersByTime: timers.advanceTimersByTime.bind(timers),
      },
    });
  }

  unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  unstable_importModule(path: string): Promise<unknown> {
    runs += 1;
    return import(pathToFileURL(path).href);
  }

  enterTestCode(): void {}

  leaveTestCode(): void {}

  getSourceMaps(): Map<string, string> {
    return new Map();
  }

  getAllCoverageInfoCopy(): undefined {}

  teardown(): void {}
}
