// Starts the stand-in for Stripe, and adapters of examples/stripe, as processes.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainEnvironment } from '@shop/shared/testing';
import { toolsOf } from '../../install-tools.ts';
import type { Ledger } from './stripe-api.ts';

const folder = new URL('../../../examples/stripe/', import.meta.url);
export const example = fileURLToPath(folder);
export const { install: installStripe } = toolsOf(folder);

export const [secretKey, webhookSecret] = ['sk_test_1', 'whsec_1'];

/** Loads sources of the example, whose package is installed when the tests run. */
export async function loadExample<Sources>(...names: readonly string[]): Promise<Sources> {
  const sources = await Promise.all(names.map(async (name) => (await import(join(example, 'src', name))) as object));
  return Object.assign({}, ...sources) as Sources;
}

export interface StandIn {
  readonly url: string;
  /** Calls a path of the stand-in that begins with /test/. */
  act<Found = Record<string, unknown>>(name: string, body?: object): Promise<Found>;
  ledger(): Promise<Ledger>;
  stop(): void;
}

export interface StandInOptions {
  /** The address that receives the events. No events are sent without it. */
  readonly webhook?: string;
  /** Whether faults happen that no test plans. */
  readonly faults: boolean;
}

export async function startStandIn({ webhook = '', faults }: StandInOptions): Promise<StandIn> {
  // The stand-in ends with this process: the IPC channel closes.
  const child = fork(fileURLToPath(new URL('stripe-api.ts', import.meta.url)), {
    env: {
      ...plainEnvironment(),
      WEBHOOK_URL: webhook,
      WEBHOOK_SECRET: webhookSecret,
      SECRET_KEY: secretKey,
      FAULTS: faults ? 'on' : 'off',
    },
    execArgv: [],
  });
  const [url] = (await once(child, 'message')) as [string];
  const act = async <Found>(name: string, body: object = {}): Promise<Found> => {
    const response = await fetch(`${url}/test/${name}`, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Found;
  };
  return { url, act, ledger: () => act<Ledger>('ledger'), stop: () => child.kill() };
}

export interface StartedAdapter {
  readonly child: ChildProcess;
  /** Resolves with the exit code when it has ended. */
  readonly ended: Promise<number | null>;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `npm start` of the example without npm, and waits until it listens or has ended. */
export async function startAdapter(settings: Readonly<Record<string, string>>): Promise<StartedAdapter> {
  const child = spawn(process.execPath, ['--conditions=@shop/source', 'src/main.ts'], {
    cwd: example,
    env: { ...plainEnvironment(), STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: webhookSecret, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const listens = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += String(data);
        if (output.includes('listens on port')) resolve();
      });
    }
  });
  await Promise.race([listens, ended]);
  return {
    child,
    ended,
    output: () => output,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return ended;
    },
  };
}
