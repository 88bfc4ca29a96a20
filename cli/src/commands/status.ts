// `status`: the running processes, their readiness, and the backlog of events.
import { longestLag } from '@shop/shared/events';
import { operatorCommand } from '@shop/shared/shop';
import { Command } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { coloured, table } from '../output/table.ts';
import { countDeadLetters, type DeadLetters, type Outbox, readOutboxes } from '../shop/backlog.ts';
import { dataFolder, findRunning } from '../shop/data-folder.ts';
import { hasShop, withShop } from '../shop/open-shop.ts';
import { requireNpm } from '../shop/require-npm.ts';
import { givenEnvironment, readSettings } from '../shop/settings.ts';

export interface ProcessStatus {
  readonly name: string;
  readonly url: string;
  readonly state: 'ready' | 'not ready' | 'no answer';
  /** The names of the failing checks. */
  readonly failing: readonly string[];
}

interface Status {
  readonly running: boolean;
  readonly ready: boolean;
  readonly data: string;
  readonly processes: readonly ProcessStatus[];
  /** Undefined when no database is known, or it does not respond. */
  readonly outboxes?: readonly Outbox[];
  /** Undefined when the broker does not respond. */
  readonly deadLetters?: readonly DeadLetters[];
  /** The recommended next steps, one sentence each. */
  readonly advice: readonly string[];
}

const answerWithin = 2_000;
const colours = { ready: 'green', 'not ready': 'yellow', 'no answer': 'red' } as const;

export function statusCommand(): Command {
  return withJson(
    new Command('status').addHelpText(
      'after',
      '\nFor a stopped shop, it shows the events that wait for the next start.',
    ),
  ).action(async (output: Output) => {
    const status = await readStatus();
    if (!status.ready) process.exitCode = exitCodes.failed;
    print(output, status, () => describe(status));
  });
}

async function readStatus(): Promise<Status> {
  requireNpm('status', operatorCommand('examine'));
  const settings = readSettings(givenEnvironment());
  const folder = dataFolder(settings.dataDir);
  const shop = await findRunning(folder);
  const processes = await readProcesses(shop?.processes ?? {});
  const ready = shop !== undefined && processes.every(({ state }) => state === 'ready');
  const stopped = `No shop runs on ${folder.path}: run ${operatorCommand('start')}, or set SHOP_DATA_DIR.`;
  const common = { running: shop !== undefined, ready, data: folder.path, processes };
  if (shop === undefined && settings.databaseUrl === undefined && !(await hasShop(folder))) {
    return { ...common, advice: [stopped] };
  }
  // The schemas are not migrated, so that the release that used them last can still back them up.
  const [outboxes, deadLetters] = await withShop(
    (attached) => Promise.all([readOutboxes(attached).catch(() => undefined), countDeadLetters(attached)]),
    { migrate: false },
  );
  const advice: string[] = [];
  if (shop === undefined) advice.push(stopped);
  for (const { name, failing } of processes.filter((each) => each.state !== 'ready')) {
    const why = failing.length > 0 ? ` (${failing.join(', ')})` : '';
    advice.push(`${name} is not ready${why}: run ${operatorCommand('logs', name)} or ${operatorCommand('examine')}.`);
  }
  if (deadLetters === undefined) advice.push('The broker does not answer: is it started? Events wait in the outboxes.');
  if (outboxes === undefined) advice.push(`The waiting events cannot be read: run ${operatorCommand('examine')}.`);
  for (const { service, waiting, lagSeconds } of shop === undefined ? [] : (outboxes ?? [])) {
    if (lagSeconds < longestLag) continue;
    advice.push(
      `${counted(waiting, `event of ${service} waits`, `events of ${service} wait`)} since ${lagSeconds} s: run ${operatorCommand('logs', service)}.`,
    );
  }
  for (const { consumer, retrying } of shop === undefined ? [] : (deadLetters ?? [])) {
    if (retrying === 0) continue;
    const [service = ''] = consumer.split('.');
    const events = counted(retrying, `event of ${consumer} is tried again`, `events of ${consumer} are tried again`);
    advice.push(`${events}: run ${operatorCommand('logs', service)}.`);
  }
  if (deadLetters?.some(({ letters }) => letters > 0) === true) {
    const dead = (verb: string): string => operatorCommand('shop', `events dead ${verb}`);
    advice.push(`Events were given up: ${dead('list')} shows why, ${dead('replay --all')} tries again.`);
  }
  return { ...common, ...(outboxes && { outboxes }), ...(deadLetters && { deadLetters }), advice };
}

/** Returns the state that each process reports. */
export async function readProcesses(addresses: Readonly<Record<string, string>>): Promise<ProcessStatus[]> {
  return Promise.all(Object.entries(addresses).map(([name, url]) => statusOf(name, url)));
}

async function statusOf(name: string, url: string): Promise<ProcessStatus> {
  try {
    const answer = await fetch(`${url}/health/ready`, { signal: AbortSignal.timeout(answerWithin) });
    const { checks = {} } = (await answer.json()) as { checks?: Record<string, string> };
    const failing = Object.keys(checks).filter((check) => checks[check] !== 'ok');
    return { name, url, state: answer.ok ? 'ready' : 'not ready', failing };
  } catch {
    return { name, url, state: 'no answer', failing: [] };
  }
}

function describe({ processes, outboxes, deadLetters, advice, ready }: Status): string {
  const parts: string[] = [];
  if (processes.length > 0) {
    const rows = processes.map(({ name, state, url, failing }) => [name, state, url, failing.join(' ')]);
    parts.push(table([['PROCESS', 'STATE', 'ADDRESS', 'FAILING'], ...rows], colours));
  }
  if (outboxes !== undefined) {
    const rows = outboxes.map(({ service, waiting, lagSeconds }) => [service, waiting, `${lagSeconds} s`]);
    parts.push(table([['OUTBOX', 'WAITING', 'OLDEST'], ...rows]));
  }
  if (deadLetters !== undefined) {
    const rows = deadLetters.map(({ consumer, retrying, letters }) => [consumer, retrying, letters]);
    parts.push(table([['CONSUMER', 'RETRYING', 'DEAD LETTERS'], ...rows]));
  }
  const verdict = ready && advice.length === 0 ? 'All is well.' : advice.join('\n');
  return [...parts, coloured(verdict, { 'All is well.': 'green' })].join('\n\n');
}
