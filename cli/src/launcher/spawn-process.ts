// Starts one process of the shop, waits until it is ready, and stops it.
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '@shop/shared/runtime';
import { type LogFile, openLogFile } from './log-file.ts';
import type { Run } from './supervise.ts';

export interface ProcessOptions {
  readonly name: string;
  /** The file to run, below the checkout. */
  readonly script: string;
  readonly parameters?: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly logs: string;
  /**
   * The address of its `/health/ready`. Without it, the process is a job, which is ready when it has ended with
   * success.
   */
  readonly url?: string;
  readonly say: (line: string) => void;
  /** Called once a minute with the missing dependency of a process that is not ready. */
  readonly sayWaiting?: (line: string) => void;
  /** Milliseconds between two calls of it. */
  readonly waitingEvery?: number;
}

/** Milliseconds within which a process responds to a readiness check. */
const answerWithin = 5_000;
/** Milliseconds to wait for a process to stop, somewhat longer than a process needs to stop by itself. */
const stopWithin = 12_000;

export function spawnProcess(options: ProcessOptions): Run {
  const { name, url, say } = options;
  // The gateway removes the types of the modules that it serves to browsers, which Node.js calls experimental.
  const flags = ['--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, options.script, ...(options.parameters ?? [])], {
    cwd: options.cwd,
    env: options.environment,
    // A separate process group, so that Ctrl-C reaches only the launcher, which stops the processes in order. The IPC
    // channel closes when the launcher exits.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const over = new AbortController();
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
  // Warnings are stored until the process is ready, because they explain a failed start.
  const complaints: Complaints = { warnings: [], plain: [] };
  let started = false;
  const log = openLogFile(options.logs, name, (line) => (started ? say(line) : complaints.warnings.push(line)));
  // The output is read immediately, because Node.js discards the output of a process that exits before a listener is
  // added.
  takeOutput(log, child, (line) => (started ? say(line) : complaints.plain.push(line)));
  const ended = exited.then((reason) => {
    over.abort();
    log.close();
    return reason;
  });
  const prepare = async (): Promise<void> => {
    const isReady = url !== undefined && (await untilReady(url, over.signal, options));
    const reason = isReady ? undefined : await ended;
    const succeeded = isReady || (url === undefined && reason === 'exit code 0');
    if (!succeeded) throw new StartError(startFailure(name, complaints, reason));
    started = true;
    for (const line of complaints.warnings) say(line);
  };
  const ready = prepare();
  ready.catch(() => {}); // the failure is reported through `ended` when no caller waits for it
  return {
    ready,
    ended,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
      child.kill('SIGTERM');
      const late = setTimeout(() => child.kill('SIGKILL'), stopWithin);
      await ended;
      clearTimeout(late);
    },
  };
}

interface Complaints {
  /** Lines of the log at level warn or above. */
  readonly warnings: string[];
  /** Lines on standard error that are not log lines. */
  readonly plain: string[];
}

/** Returns the cause of a failed start: the message of the process, the error that ended it, or its last warning. */
export function startFailure(name: string, { plain, warnings }: Complaints, reason = ''): string {
  const spoken = plain.filter((line) => line.startsWith(`${name}: `));
  if (spoken.length > 0) return spoken.join('\n');
  return `${name}: ${plain.find((line) => /^\w*Error\b/.test(line)) ?? warnings.at(-1) ?? reason}`;
}

function takeOutput(log: LogFile, { stdout, stderr }: ChildProcess, complain: (line: string) => void): void {
  if (stdout) log.take(stdout, () => {});
  if (stderr) log.take(stderr, complain);
}

/**
 * Waits without a limit, because a slow machine or a service that waits for a database is not a failure.
 * @returns false when the process has exited
 */
async function untilReady(
  url: string,
  over: AbortSignal,
  { sayWaiting = () => {}, waitingEvery = 60_000 }: Pick<ProcessOptions, 'sayWaiting' | 'waitingEvery'>,
): Promise<boolean> {
  const began = Date.now();
  for (let next = began + waitingEvery; !over.aborted; await sleep(50)) {
    const state = await askState(url, over);
    if (state === 'ready') return true;
    if (Date.now() < next) continue;
    sayWaiting(`is not ready after ${Math.round((Date.now() - began) / 1000)} s, and is waited for (${state})`);
    next += waitingEvery;
  }
  return false;
}

/** Returns `ready`, or the missing dependency. */
async function askState(url: string, over: AbortSignal): Promise<string> {
  try {
    const signal = AbortSignal.any([over, AbortSignal.timeout(answerWithin)]);
    const answer = await fetch(`${url}/health/ready`, { signal });
    const { checks = {} } = (await answer.json()) as { checks?: Readonly<Record<string, string>> };
    if (answer.ok) return 'ready';
    const failing = Object.keys(checks).filter((name) => checks[name] !== 'ok');
    return failing.length === 0 ? `status ${answer.status}` : `failing: ${failing.join(', ')}`;
  } catch {
    return 'no answer';
  }
}
