// Ports for processes that listen later: no other caller gets them meanwhile.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { freePorts } from '../../src/embedded/index.ts';

const door = fileURLToPath(new URL('../../src/embedded/index.ts', import.meta.url));
/** Two processes that choose this many of the 17,000 ports independently would have about nine in common. */
const count = 400;
const program = `
  import { freePorts } from ${JSON.stringify(door)};
  process.on('disconnect', () => process.exit());
  process.send(await freePorts(${count}));`;

it('a free port is returned once, to one process, while it runs', async () => {
  const other = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  try {
    const [theirs] = (await once(other, 'message')) as [number[]];
    const ports = [...theirs, ...(await freePorts(count / 2)), ...(await freePorts(count / 2))];
    expect(new Set(ports).size).toBe(2 * count);
  } finally {
    other.kill();
  }
});

it('free ports can be listened on', async () => {
  const ports = await freePorts(20);
  const servers = await Promise.all(
    ports.map(async (port) => {
      const server = createServer().listen(port, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  for (const server of servers) server.close();
});
