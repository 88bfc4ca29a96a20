// Three nodes of etcd on the loopback interface.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePorts } from '@shop/shared/embedded';
import { eventually } from '@shop/shared/testing';
import { findProgram } from './programs.ts';

export interface Etcd {
  /** The addresses of the nodes for their clients, as host:port. */
  readonly hosts: readonly string[];
  /** Kills a node (SIGKILL). Its data is kept. */
  kill(index: number): Promise<void>;
  start(index: number): void;
  /** Resolves when a majority of the nodes agrees on a leader. */
  untilHealthy(): Promise<void>;
  stop(): Promise<void>;
}

const nodes = [0, 1, 2];

export async function startEtcd(folder: string): Promise<Etcd> {
  const program = await findProgram('etcd');
  const ports = await freePorts(nodes.length * 2);
  const clientOf = (index: number): string => `127.0.0.1:${ports[index]}`;
  const peerOf = (index: number): string => `127.0.0.1:${ports[index + nodes.length]}`;
  const running: ChildProcess[] = [];
  const start = (index: number): void => {
    const name = `etcd-${index}`;
    const options = {
      name,
      'data-dir': join(folder, name),
      'listen-client-urls': `http://${clientOf(index)}`,
      'advertise-client-urls': `http://${clientOf(index)}`,
      'listen-peer-urls': `http://${peerOf(index)}`,
      'initial-advertise-peer-urls': `http://${peerOf(index)}`,
      'initial-cluster': nodes.map((each) => `etcd-${each}=http://${peerOf(each)}`).join(','),
      'enable-v2': 'true', // for Patroni, see patroni.ts
      // Longer than the defaults, so that a busy machine causes no elections.
      'heartbeat-interval': '300',
      'election-timeout': '3000',
      'log-level': 'error',
    };
    const parameters = Object.entries(options).map(([option, value]) => `--${option}=${value}`);
    running[index] = spawn(program, parameters, { stdio: 'ignore' });
  };
  const kill = async (index: number): Promise<void> => {
    const node = running[index];
    if (node === undefined || node.exitCode !== null || node.signalCode !== null) return;
    const ended = once(node, 'exit');
    node.kill('SIGKILL');
    await ended;
  };
  nodes.forEach(start);
  return {
    hosts: nodes.map(clientOf),
    kill,
    start,
    untilHealthy: () =>
      eventually(async () => {
        const answers = await Promise.all(nodes.map((index) => isHealthy(clientOf(index))));
        if (answers.filter(Boolean).length < 2) throw new Error('etcd has no majority');
      }, 60_000),
    stop: async () => {
      for (const index of nodes) await kill(index);
    },
  };
}

async function isHealthy(host: string): Promise<boolean> {
  const answer = await fetch(`http://${host}/health`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
  return answer?.ok === true;
}
