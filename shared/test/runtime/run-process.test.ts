// A process refuses to start when its log is configured wrongly.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { plainEnvironment } from '../../src/testing/plain-environment.ts';

const door = fileURLToPath(new URL('../../src/runtime/index.ts', import.meta.url));
const program = `
  import { readLogLevel, readTogether, runProcess } from ${JSON.stringify(door)};
  const read = (environment) => readTogether(environment, { logLevel: readLogLevel });
  await runProcess('sample', read, async ({ log }) => { log.info('fine'); log.debug('finer'); });`;

function run(environment: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...plainEnvironment(), ...environment },
    encoding: 'utf8',
  });
  const said = stdout.split('\n').filter(Boolean);
  return { status, stderr, said: said.map((line) => (JSON.parse(line) as { msg: string }).msg) };
}

describe('LOG_LEVEL', () => {
  it('an invalid LOG_LEVEL is reported in one line', () => {
    expect(run({ LOG_LEVEL: 'verbose' })).toEqual({
      status: 1,
      stderr: 'sample: LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "verbose"\n',
      said: [],
    });
  });

  it('an empty LOG_LEVEL is info, as an unset one', () => {
    const informed = { status: 0, stderr: '', said: ['fine'] };
    expect(run({ LOG_LEVEL: '' })).toEqual(informed);
    expect(run({})).toEqual(informed);
  });

  it('LOG_LEVEL can be read from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'level-'));
    const file = join(folder, 'level');
    writeFileSync(file, 'debug\n');
    expect(run({ LOG_LEVEL_FILE: file })).toEqual({ status: 0, stderr: '', said: ['fine', 'finer'] });
    rmSync(folder, { recursive: true });
  });
});
