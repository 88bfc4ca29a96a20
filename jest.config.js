// Tests run as ES modules on one embedded PostgreSQL per run; see shared/src/testing.

// Suites that take minutes or need more than npm: `npm test -- outages` runs one, plain `npm test` runs none of them.
const longSuites = ['attacks', 'browser', 'containers', 'differential', 'observability', 'outages', 'restarts'];
// `npm test -- broker` runs what needs RabbitMQ: the files that say so in their names.
const isNamed = (suite) => process.argv.slice(2).some((argument) => argument.includes(suite));

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
  testPathIgnorePatterns: [
    '/node_modules/',
    ...longSuites.filter((suite) => !isNamed(suite)).map((suite) => `<rootDir>/test/${suite}/`),
    ...(isNamed('broker') ? [] : ['\\.broker\\.test\\.ts$']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/.data'],
  globalSetup: './shared/src/testing/global-setup.ts',
  globalTeardown: './shared/src/testing/global-teardown.ts',
  // What attacks cost the others is measured beside nothing else.
  maxWorkers: isNamed('attacks') ? 1 : 3,
  // When a test is given up. How long something may take is measured, or said where it is promised.
  testTimeout: 300_000,
};
