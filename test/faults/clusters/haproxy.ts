// HAProxy in front of PostgreSQL: leads every connection to the present primary. docs/deploying/postgresql-cluster.md has the same settings.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Member, ports } from './patroni.ts';
import { findProgram } from './programs.ts';

/** @returns a function that stops it */
export async function startHaproxy(
  folder: string,
  port: number,
  members: readonly Member[],
): Promise<() => Promise<void>> {
  const program = await findProgram('haproxy');
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, configuration(port, members));
  const haproxy = spawn(program, ['-f', file, '-db'], { stdio: 'ignore' });
  return () => ended(haproxy);
}

function configuration(port: number, members: readonly Member[]): string {
  const servers = members.map(({ name, host }) => `  server ${name} ${host} check port ${ports.api}`);
  return `
defaults
  mode tcp
  timeout connect 2s
  timeout check 2s
  timeout client 1h
  timeout server 1h

listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = once(child, 'exit');
  child.kill('SIGKILL');
  await end;
}
