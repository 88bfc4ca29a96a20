// The log of a process: every line names its request, and no line contains a secret.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify, stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { redact } from '../../src/runtime/redact.ts';

const door = fileURLToPath(new URL('../../src/runtime/index.ts', import.meta.url));

const run = promisify(execFile);

const sourceOf = (program: string): string =>
  `import { createLog, inRequest } from ${JSON.stringify(door)}; const log = createLog('sample', 'trace'); ${program}`;

/** Returns the lines that a process writes when it runs this program. */
async function linesOf(program: string): Promise<Record<string, unknown>[]> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', sourceOf(program)], {
    timeout: 20_000,
  });
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Returns the output of a program on a terminal. `script`, which is part of Linux and macOS, provides the terminal. */
async function shownOf(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'log-'));
  const file = join(folder, 'program.mjs');
  await writeFile(file, sourceOf(program));
  const onTerminal =
    process.platform === 'darwin'
      ? ['-q', '/dev/null', process.execPath, file]
      : ['-qec', `'${process.execPath}' '${file}'`, '/dev/null'];
  const { stdout } = await run('script', onTerminal);
  await rm(folder, { recursive: true });
  return stripVTControlCharacters(stdout).replaceAll('\r\n', '\n');
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the log', () => {
  it('the log contains the message of an object that resembles an error, and no values of its other members', async () => {
    const [line] = await linesOf(
      `log.warn({ err: { message: 'the connection was lost', queue: 'mail' } }, 'pg-boss');`,
    );
    expect(line).toMatchObject({ msg: 'pg-boss', err: { message: 'the connection was lost' } });
    expect(line?.err).not.toHaveProperty('queue');
  });

  it('the log names the request and the trace in every line that is written for one, also after waiting', async () => {
    const [before, during, later] = await linesOf(`
      log.info('before');
      await inRequest({ id: 'request-1', traceparent: '${traceparent}' }, async () => {
        log.info('during');
        await new Promise((resolve) => setTimeout(resolve, 5));
        log.warn({ requestId: 'named' }, 'later');
      });`);
    expect(before).toMatchObject({ name: 'sample', msg: 'before' });
    expect(before).not.toHaveProperty('trace_id');
    expect(during).toMatchObject({
      requestId: 'request-1',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      span_id: 'b7ad6b7169203331',
    });
    expect(later).toMatchObject({ requestId: 'named', trace_id: '0af7651916cd43dd8448eb211c80319c' });
  });

  it.each([
    ['a member', `log.info({ password: 'hush-hush' })`],
    ['a member below', `log.info({ body: { access_token: 'hush-hush' } })`],
    ['a header', `log.info({ request: { headers: { authorization: 'Bearer hush-hush', cookie: 'a=hush-hush' } } })`],
    ['a message', `log.info('sent Authorization: Bearer hush-hush')`],
    ['an error', `log.error({ err: new Error('refused {"password":"hush-hush"}') })`],
    ['the address of a database', `log.info({ url: 'postgres://orders:hush-hush@localhost/shop' })`],
    ['an e-mail address', `log.info({ err: new Error('Key (email)=(hush-hush@example.com) exists') })`],
    ['an e-mail address in a query', `log.info({ url: '/v1/accounts?email=hush-hush@example.com' })`],
    ['a signed token', `log.info('kept eyJhbGciOiJIUzI1NiJ9.hush-hush.hush-hush')`],
  ])('the log does not contain %s', async (_where, program) => {
    const [line] = await linesOf(program);
    expect(JSON.stringify(line)).toContain('[redacted]');
    expect(JSON.stringify(line)).not.toContain('hush-hush');
  });

  it.each([
    '{kim}@example.com',
    'kim@example.भारत',
    'kim@host.1',
    "o'brien@example.com",
    'kim/sales@example.com',
    'kim=x@example.com',
    '𝒜.é@bücher.example',
    `${'x'.repeat(240)}@example.com`,
  ])('the log removes the whole e-mail address %s', (address) => {
    const line = (to: string) => JSON.stringify({ msg: `<${to}> on\n${to}, \u0001${to}: no` });
    expect(redact(line(address))).toBe(line('[redacted]'));
  });

  it('a closed output of the log does not keep a process from exiting', async () => {
    const program = sourceOf(`
      process.stdin.once('data', () => { log.info('one'); log.info('two'); process.exit(); });
      log.info('ready');`);
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: 20_000,
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await once(child.stdout, 'close');
    child.stdin.write('exit');
    expect(await once(child, 'exit')).toEqual([expect.any(Number), null]);
  });

  it('a line of any length is written to the log without delay', async () => {
    const lines = await linesOf(`
      log.info('x'.repeat(200_000)); log.info('a@' + 'b.'.repeat(100_000)); log.info('a@' + '1.'.repeat(100_000));`);
    expect(lines).toHaveLength(3);
  });

  it('the log contains strings that only resemble an address', async () => {
    const [line] = await linesOf(`log.info({ at: 'node_modules/@opentelemetry/api/index.js' }, 'pg@8.2.1')`);
    expect(line).toMatchObject({ at: 'node_modules/@opentelemetry/api/index.js', msg: 'pg@8.2.1' });
  });

  const line = `await inRequest({ id: 'request-1', traceparent: '${traceparent}' }, async () => {
    log.warn({ orderId: 7, password: 'hush-hush' }, 'not enough stock');
  });`;

  it('the log is JSON without a terminal', async () => {
    const [written] = await linesOf(line);
    expect(written).toMatchObject({ name: 'sample', level: 40, orderId: 7, msg: 'not enough stock' });
    expect(written).toMatchObject({ time: expect.stringMatching(/^\d{4}-.*Z$/), pid: expect.any(Number) });
  });

  it('the log on a terminal is formatted for people, and contains no secrets', async () => {
    const shown = await shownOf(line);
    expect(shown).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] WARN: not enough stock$/m);
    expect(shown).toMatch(/^ +orderId: 7$/m);
    expect(shown).toMatch(/^ +requestId: "request-1"$/m);
    expect(shown).toMatch(/^ +password: "\[redacted\]"$/m);
    expect(shown).not.toMatch(/hush-hush|sample|trace_id|"msg"/);
  });
});
