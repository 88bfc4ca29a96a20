// The log of a process: every line tells which request it belongs to, and none tells a secret.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const door = fileURLToPath(new URL('../../src/runtime/index.ts', import.meta.url));

/** What a process writes that runs this. */
async function linesOf(program: string): Promise<Record<string, unknown>[]> {
  const text = `import { createLog, inRequest } from ${JSON.stringify(door)}; const log = createLog('sample', 'trace'); ${program}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', text]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('the log', () => {
  it('names the request and the trace in every line that is written for one, also after waiting', async () => {
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
  ])('keeps %s to itself', async (_where, program) => {
    const [line] = await linesOf(program);
    expect(JSON.stringify(line)).toContain('[redacted]');
    expect(JSON.stringify(line)).not.toContain('hush-hush');
  });

  it('leaves alone what only looks like an address', async () => {
    const [line] = await linesOf(`log.info({ at: 'node_modules/@opentelemetry/api/index.js' }, 'pg@8.2.1')`);
    expect(line).toMatchObject({ at: 'node_modules/@opentelemetry/api/index.js', msg: 'pg@8.2.1' });
  });
});
