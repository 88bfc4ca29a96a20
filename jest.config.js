// Tests run as ES modules on one embedded PostgreSQL per run; see shared/src/testing.
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2024' }, module: { type: 'es6' } },
    ],
  },
  testMatch: ['<rootDir>/**/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.data'],
  globalSetup: './shared/src/testing/global-setup.ts',
  globalTeardown: './shared/src/testing/global-teardown.ts',
  maxWorkers: 2,
  testTimeout: 30_000,
};
