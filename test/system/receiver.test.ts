// The example of a receiver as a process of its own, with messages that the package standardwebhooks signs.
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePorts } from '@shop/shared/embedded';
import { newId } from '@shop/shared/runtime';
import { eventually, plainEnvironment } from '@shop/shared/testing';
import { Webhook } from 'standardwebhooks';

const folder = fileURLToPath(new URL('../../examples/receiver', import.meta.url));
const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const lines: string[] = [];
let child: ChildProcess;
let url: string;

beforeAll(async () => {
  const [port = 0] = await freePorts(1);
  url = `http://127.0.0.1:${port}/`;
  child = spawn(process.execPath, ['src/main.ts'], {
    cwd: folder,
    env: { ...plainEnvironment(), WEBHOOK_SECRET: secret, PORT: String(port) },
  });
  child.stdout?.on('data', (data) => lines.push(...String(data).trim().split('\n')));
  await eventually(() => expect(lines).toEqual([`listening at ${url}`]), 20_000);
});
afterAll(async () => {
  child.kill();
  await once(child, 'exit');
});

const subject = newId();
const change = (sequence: number, previous?: number, id = newId()) => ({
  ...{ specversion: '1.0', id, source: '/orders', type: 'order.updated.v1', subject },
  sequence: String(sequence).padStart(10, '0'),
  ...(previous !== undefined && { previoussequence: String(previous).padStart(10, '0') }),
  resource: `/v1/orders/${subject}`,
});

async function send(
  event: { readonly id: string; readonly [member: string]: unknown },
  replace: Record<string, string> = {},
): Promise<number> {
  const body = JSON.stringify(event);
  const now = new Date();
  const headers = {
    'webhook-id': event.id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(event.id, now, body),
    'content-digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    'content-type': 'application/cloudevents+json',
    ...replace,
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

const verdicts = (): string[] => lines.slice(1).map((line) => line.split(' ')[0] ?? '');

it('the example of a receiver handles each message once, and names order and gaps', async () => {
  const first = change(1);
  const second = change(3, 1);
  const events = [first, second, second, change(9, 7), change(7, 3), { ...change(1), subject: newId() }];
  for (const event of events) expect(await send(event)).toBe(204);
  await eventually(() => expect(verdicts()).toEqual(['next', 'next', 'repeated', 'gap', 'late', 'next']));
  expect(await send({ ...change(1), type: 'webhook.reset.v1' })).toBe(204);
  await eventually(() => expect(lines.at(-1)).toBe('reset: read the lists again'));
});

it('the example of a receiver refuses a message with another secret, digest or time', async () => {
  const count = lines.length;
  const event = change(11, 9);
  const others = new Webhook(`whsec_${Buffer.alloc(32, 6).toString('base64')}`);
  const signature = others.sign(event.id, new Date(), JSON.stringify(event));
  expect(await send(event, { 'webhook-signature': signature })).toBe(401);
  expect(await send(event, { 'webhook-timestamp': '1700000000' })).toBe(401);
  expect(await send(event, { 'content-digest': 'sha-256=:AAAA:' })).toBe(400);
  expect((await fetch(url)).status).toBe(405);
  expect(lines).toHaveLength(count);
});
