// Tests of one service come one after another, because they share processes. All others come before them: the longest
// files are among these.
import { createRequire } from 'node:module';

// As an ES module, the package exports another default than its types state.
const { default: TestSequencer } = createRequire(import.meta.url)(
  '@jest/test-sequencer',
) as typeof import('@jest/test-sequencer');

type Tests = Parameters<InstanceType<typeof TestSequencer>['sort']>[0];

export default class extends TestSequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const longestFirst = await super.sort(tests);
    const service = (path: string): string => /services\/[^/]+/.exec(path)?.[0] ?? '';
    return longestFirst.sort((one, other) => service(one.path).localeCompare(service(other.path)));
  }
}
