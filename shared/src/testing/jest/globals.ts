// What test files import from '@jest/globals', which the runtime resolves to this file.
type Globals = typeof import('@jest/globals');
const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } = globalThis as unknown as Globals;
/** The object of the running file, because each file has its own mocks. */
const jest = new Proxy({} as Globals['jest'], {
  get: (_target, name) => Reflect.get((globalThis as unknown as Globals).jest, name),
});

export { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest };
