// Tests run on one embedded PostgreSQL per run, and Node.js loads their modules: test/README.md describes both.
import { availableParallelism } from 'node:os';

// Suites that take minutes or need more than npm: folders of test/system, test/faults and test/abuse, or one file in a
// folder whose other tests are quick.
// `npm test -- outages` runs one of them; `npm test` runs none of them.
const longSuites = [
  'attacks',
  'browser',
  'clients',
  'clusters',
  'conformance',
  'containers',
  'differential',
  'fuzz/fuzz.test',
  'newcomer',
  'observability',
  'outages/outages.test',
  'restarts',
  'rotations',
  'soak',
  'stripe',
  'upgrades',
];
// `npm test -- broker` runs the tests that need RabbitMQ. The names of their files contain `broker`.
const isNamed = (suite) => process.argv.slice(2).some((argument) => argument.includes(suite.split('/')[0]));

export default {
  testEnvironment: './shared/src/testing/jest/environment.ts',
  runtime: './shared/src/testing/jest/runtime.ts',
  testSequencer: './shared/src/testing/jest/sequencer.ts',
  transform: {},
  testMatch: ['<rootDir>/**/test/**/*.test.ts', '<rootDir>/tools/**/*.test.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...longSuites.filter((suite) => !isNamed(suite)).map((suite) => `<rootDir>/test/[a-z]+/${suite}`),
    ...(isNamed('broker') ? [] : ['\\.broker\\.test\\.ts$']),
    // `npm run check` runs the tests of documents, manifests and releases.
    ...(['tools', 'broker', 'consumer-contracts'].some(isNamed) ? [] : ['<rootDir>/tools/']),
  ],
  modulePathIgnorePatterns: ['<rootDir>/.data'],
  globalSetup: './shared/src/testing/global-setup.ts',
  globalTeardown: './shared/src/testing/global-teardown.ts',
  // The attacks measure their effect on other clients, so no other tests run at the same time. Other tests often wait for
  // their processes, so two workers share a processor.
  maxWorkers: isNamed('attacks') ? 1 : 2 * availableParallelism(),
  // Milliseconds after which a test is aborted. Tests of time limits measure the time themselves.
  testTimeout: 600_000,
};
