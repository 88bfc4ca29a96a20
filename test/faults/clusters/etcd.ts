// Three nodes of etcd, one on each machine of the PostgreSQL cluster.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '@shop/shared/testing';
import type { Machine } from './machines.ts';
import { findProgram } from './programs.ts';

export interface Etcd {
  /** The addresses of the nodes for Patroni, as host:port. */
  readonly hosts: readonly string[];
  /** Kills a node (SIGKILL). Its data is kept. */
  kill(index: number): Promise<void>;
  start(index: number): void;
  /** Resolves when a majority of the nodes agrees on a leader. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

const [clientPort, peerPort] = [2379, 2380];

export async function startEtcd(folder: string, machines: readonly Machine[]): Promise<Etcd> {
  const program = await findProgram('etcd');
  const nameOf = ({ name }: Machine): string => `etcd-${name}`;
  const clientsOf = ({ address }: Machine): string => `${address.peers}:${clientPort}`;
  const peersOf = ({ address }: Machine): string => `http://${address.peers}:${peerPort}`;
  const running: ChildProcess[] = [];
  const start = (index: number): void => {
    const machine = machines[index];
    if (machine === undefined) return;
    const name = nameOf(machine);
    const options = {
      name,
      'data-dir': join(folder, name),
      'listen-client-urls': `http://0.0.0.0:${clientPort}`,
      'advertise-client-urls': `http://${clientsOf(machine)}`,
      'listen-peer-urls': peersOf(machine),
      'initial-advertise-peer-urls': peersOf(machine),
      'initial-cluster': machines.map((each) => `${nameOf(each)}=${peersOf(each)}`).join(','),
      'enable-v2': 'true', // for Patroni, see patroni.ts
      // Longer than the defaults, so that a busy machine causes no elections.
      'heartbeat-interval': '300',
      'election-timeout': '3000',
      // A node that joins again after a partition causes no election. Newer versions do this by default.
      'pre-vote': 'true',
      'log-level': 'error',
    };
    const parameters = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    running[index] = spawn(...machine.command(program, parameters), { stdio: 'ignore' });
  };
  const kill = async (index: number): Promise<void> => {
    const node = running[index];
    if (node === undefined || node.exitCode !== null || node.signalCode !== null) return;
    const ended = once(node, 'exit');
    node.kill('SIGKILL');
    await ended;
  };
  const nodes = [...machines.keys()];
  nodes.forEach(start);
  return {
    hosts: machines.map(clientsOf),
    kill,
    start,
    untilHealthy: () =>
      eventually(async () => {
        const answers = await Promise.all(machines.map(isHealthy));
        if (answers.filter(Boolean).length < 2) throw new Error('etcd has no majority');
      }, 60_000),
    stop: async () => {
      for (const index of nodes) await kill(index);
    },
  };
}

async function isHealthy({ address }: Machine): Promise<boolean> {
  const url = `http://${address.shop}:${clientPort}/health`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return answer?.ok === true;
}
