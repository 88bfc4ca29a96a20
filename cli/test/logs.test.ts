// `npm run shop -- logs`: the newest lines by time, for people and programs, also as they are written.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { eventually, plainEnvironment } from '@shop/shared/testing';
import { runShop } from './started-shop.ts';

let dataDir: string;
const logs = (...parameters: string[]) => runShop(dataDir, 'logs', ...parameters);
const path = (name: string) => join(dataDir, 'logs', `${name}.log`);
const at = (second: number) => `2026-11-21T03:00:${String(second).padStart(2, '0')}.000Z`;
const line = (name: string, second: number, msg: string, more: object = {}): string =>
  `${JSON.stringify({ level: 30, time: at(second), name, pid: 7, ...more, msg })}\n`;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'shop-logs-'));
  await mkdir(join(dataDir, 'logs'));
  await writeFile(path('orders'), line('orders', 1, 'first') + line('orders', 3, 'third', { requestId: 'r-1' }));
  await writeFile(
    path('gateway'),
    `${line('gateway', 2, 'second: grün')}a line that is not JSON\n${line('gateway', 4, 'fourth')}`,
  );
});
afterAll(() => rm(dataDir, { recursive: true, force: true }));

it('the command logs shows the lines of all processes by time, with the process, the time and the other fields', async () => {
  const { code, output } = await logs();
  expect(code).toBe(0);
  expect(output).toMatch(
    /^orders {3}\[.*\] INFO: first\ngateway {2}\[.*\] INFO: second: grün\ngateway {2}a line that is not JSON\norders {3}\[.*\] INFO: third\n {4}requestId: "r-1"\ngateway {2}\[.*\] INFO: fourth\n$/,
  );
});

it('the command logs shows the newest lines of one process, or all as they are in the files', async () => {
  expect((await logs('gateway', '--lines', '1')).output).toMatch(/^gateway {2}\[.*\] INFO: fourth\n$/);
  const { output } = await logs('--json', '--lines', '2');
  expect(
    output
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text).msg),
  ).toEqual(['third', 'fourth']);
});

it('the command logs rejects a process without a log and a folder without logs', async () => {
  expect(await logs('order')).toMatchObject({
    ...{ code: 1, output: '', complaints: 'there is no log of order: the logs are gateway, orders\n' },
  });
  const elsewhere = await runShop(join(dataDir, 'none'), 'logs');
  expect(elsewhere.code).toBe(1);
  expect(elsewhere.complaints).toContain('run npm start, or set SHOP_DATA_DIR');
});

it('the command logs follows the logs, also for a line that is written in two parts and a rotated log', async () => {
  const child = spawn(process.execPath, ['cli/src/shop.ts', 'logs', '-f', '--lines', '1'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...plainEnvironment(), SHOP_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (data) => {
    output += String(data);
  });
  const shows = (text: RegExp) => eventually(async () => expect(output).toMatch(text), 20_000);
  try {
    await shows(/fourth\n$/);
    const fifth = line('orders', 5, 'fifth: grün');
    const bytes = Buffer.from(fifth);
    const middle = bytes.indexOf(Buffer.from('ü')) + 1;
    await appendFile(path('orders'), bytes.subarray(0, middle));
    await appendFile(path('gateway'), line('gateway', 6, 'sixth'));
    await shows(/sixth\n$/);
    await appendFile(path('orders'), bytes.subarray(middle));
    await shows(/orders {3}\[.*\] INFO: fifth: grün\n$/);
    await rename(path('orders'), `${path('orders')}.1`);
    await writeFile(path('orders'), line('orders', 7, 'seventh'));
    await shows(/seventh\n$/);
    expect(output.match(/fourth|fifth|sixth|seventh/g)).toEqual(['fourth', 'sixth', 'fifth', 'seventh']);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
});
