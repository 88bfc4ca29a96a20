// One run of a process: the cause of a failed start, its output, and its stop.
import { mkdir, mkdtemp, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { eventually } from '@shop/shared/testing';
import { openLogFile, toWarning } from '../src/launcher/log-file.ts';
import { type ProcessOptions, spawnProcess, startFailure } from '../src/launcher/spawn-process.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'shop-run-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

async function run(name: string, source: string, more: Partial<ProcessOptions> = {}) {
  const script = join(folder, `${name}.mjs`);
  await writeFile(script, source);
  const environment = { PATH: process.env.PATH };
  return spawnProcess({ name, script, environment, cwd: folder, logs: folder, say: () => {}, ...more });
}

const logOf = (name: string): Promise<string> => readFile(join(folder, `${name}.log`), 'utf8');

describe('a log', () => {
  it('a log is written again some seconds after it could not be written', async () => {
    await mkdir(join(folder, 'blocked.log'));
    const shown: string[] = [];
    const log = openLogFile(folder, 'blocked', (line) => shown.push(line));
    const output = new PassThrough();
    log.take(output, () => {});
    output.write('lost\n');
    await eventually(() => expect(shown).toEqual([expect.stringMatching(/^cannot write the log: EISDIR/)]));
    await rmdir(join(folder, 'blocked.log'));
    await eventually(async () => {
      output.write('kept\n');
      expect(await logOf('blocked')).toMatch(/^(kept\n)+$/);
    }, 20_000);
    log.close();
  });
});

describe('a run', () => {
  it('a run of a job is ready when the job has ended with success, and its output is kept', async () => {
    const job = await run('good', 'console.log("one"); console.error("two");');
    await job.ready;
    expect(await job.ended).toBe('exit code 0');
    await eventually(async () => expect((await logOf('good')).split('\n').sort()).toEqual(['', 'one', 'two']));
  });

  it('a run that fails names the cause in one line', async () => {
    const job = await run('bad', 'console.error("bad: PORT is required"); process.exitCode = 1;');
    await expect(job.ready).rejects.toThrow(/^bad: PORT is required$/);
    expect(await job.ended).toBe('exit code 1');
  });

  it('a run that throws is explained by its error, not by the stack', async () => {
    const job = await run('broken', 'throw new TypeError("no such thing");');
    await expect(job.ready).rejects.toThrow(/^broken: TypeError: no such thing$/);
  });

  it('the launcher waits for a service without a limit, and repeats the missing dependency in the output', async () => {
    const [port = 0] = await freePorts(1);
    const waiting: string[] = [];
    const service = await run(
      'slow',
      `import { createServer } from 'node:http';
      let asked = 0;
      createServer((request, response) => {
        const ready = (asked += 1) > 20;
        response.writeHead(ready ? 200 : 503).end(JSON.stringify({ checks: { database: ready ? 'ok' : 'failing' } }));
      }).listen(${port}, '127.0.0.1');`,
      { url: `http://127.0.0.1:${port}`, sayWaiting: (line) => waiting.push(line), waitingEvery: 200 },
    );
    await service.ready;
    expect(waiting.length).toBeGreaterThan(1);
    expect(waiting.at(-1)).toMatch(/^is not ready after \d+ s, and is waited for \(failing: database\)$/);
    await service.stop();
  });

  it('a run of a service that ends before it is ready names the cause', async () => {
    const service = await run('early', 'console.error("early: no"); process.exitCode = 1;', {
      url: 'http://127.0.0.1:1',
    });
    await expect(service.ready).rejects.toThrow(/^early: no$/);
  });

  it('a run stops in order at a signal', async () => {
    const job = await run(
      'long',
      `process.on('SIGTERM', () => { console.log('ending'); process.exit(3); }); console.log('up'); ` +
        'setInterval(() => {}, 1e6);',
    );
    await eventually(async () => expect(await logOf('long')).toBe('up\n'));
    await job.stop();
    expect(await job.ended).toBe('exit code 3');
    await job.stop(); // does no harm
    await eventually(async () => expect(await logOf('long')).toBe('up\nending\n'));
  });
});

describe('the explanation of a failed start', () => {
  it('the explanation of a failed start contains all messages that the process wrote for people', () => {
    const plain = ['(node:1) Warning: x', 'orders: A is required', 'orders: B is required', 'TypeError: y'];
    expect(startFailure('orders', { plain, warnings: ['z'] }, 'exit code 1')).toBe(
      'orders: A is required\norders: B is required',
    );
  });

  it('without such messages, the explanation of a failed start is the error, the last warning, or the exit code', () => {
    const plain = ['    at there', 'SyntaxError: y'];
    expect(startFailure('orders', { plain, warnings: ['z'] }, 'exit code 1')).toBe('orders: SyntaxError: y');
    expect(startFailure('orders', { plain: [], warnings: ['x', 'z'] }, 'exit code 1')).toBe('orders: z');
    expect(startFailure('orders', { plain: [], warnings: [] }, 'signal SIGKILL')).toBe('orders: signal SIGKILL');
  });
});

describe('a line of the log', () => {
  it.each([
    ['{"level":40,"msg":"slow"}', 'slow'],
    ['{"level":50,"msg":"lost","err":{"message":"gone\\n  at x"}}', 'lost: gone'],
    ['{"level":60,"msg":"gone","err":{"message":"gone"}}', 'gone'],
    ['{"level":40,"msg":"odd \\u001b[31m"}', 'odd \\u001b[31m'],
    ['{"level":30,"msg":"fine"}', undefined],
    ['{"level":40,', undefined],
  ])('the log line %s is shown as %s', (line, shown) => {
    expect(toWarning(line)).toBe(shown);
  });
});
