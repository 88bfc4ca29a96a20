// The parts of the shop that the board shows: the state of each part, its faults, and their remedies.
import { operatorCommand } from '@shop/shared/shop';
import { type BoardFault, causesFirst } from './faults.ts';
import type { ProcessFigures, QueueFigures, ShopFigures } from './shop-figures.ts';

/** `impaired`: the part works, but needs attention. `unknown`: the process that reports its state does not respond. */
export type State = 'ready' | 'impaired' | 'not ready' | 'unknown';

export interface BoardPart {
  readonly kind: 'process' | 'schema' | 'broker' | 'queue';
  readonly name: string;
  readonly state: State;
  /** The causes first. */
  readonly faults: readonly BoardFault[];
}

/** The state of an upstream as the gateway observes it. */
export interface UpstreamView {
  /** Whether the last probe of at least one address passed. */
  readonly ready: boolean;
  /** Whether the breakers of all addresses are open. */
  readonly refusing: boolean;
  /** Whether clients need it. The gateway is not ready without it. */
  readonly needed: boolean;
}

// The thresholds of the alerts, without their delays: operators open the board when something may be wrong.
const longestLag = 30;
const fullQueue = 1_000;
const fewestRequests = 100;
const slowest = 500;
const mostFailed = 0.01;

/**
 * @param upstreams as the gateway observes them, by name
 * @param shop the metrics of the processes; undefined before the first poll
 */
export function partsOf(upstreams: ReadonlyMap<string, UpstreamView>, shop: ShopFigures | undefined): BoardPart[] {
  const { processes: reports, queues } = shop ?? { processes: [], queues: [] };
  const names = new Set(['gateway', ...upstreams.keys(), ...reports.map(({ process }) => process)]);
  const missing = [...upstreams].filter(([, { needed, ready }]) => needed && !ready).map(([name]) => name);
  const processes = [...names].map((name) => {
    const report = reports.find((one) => one.process === name);
    return name === 'gateway' ? gatewayPart(report, missing) : processPart(name, upstreams.get(name), report);
  });
  const owners = reports.filter(({ process }) => process !== 'gateway');
  if (shop === undefined) return processes;
  return [...processes, ...owners.map(schemaPart), brokerPart(reports, queues), ...queues.map(queuePart)];
}

/**
 * Returns the state of the gateway, which is running, because it sends this data. It is ready under the condition of
 * its `/health/ready`.
 */
function gatewayPart(report: ProcessFigures | undefined, missing: readonly string[]): BoardPart {
  const faults = report === undefined ? [] : [...absence(report, true), ...checks(report), ...slowness(report)];
  if (missing.length > 0) faults.push(upstreamUnavailable(missing));
  const state = missing.length > 0 ? 'not ready' : faults.length > 0 ? 'impaired' : 'ready';
  return { kind: 'process', name: 'gateway', state, faults: causesFirst(faults) };
}

const upstreamUnavailable = (missing: readonly string[]): BoardFault => ({
  kind: 'upstream-unavailable',
  what: `not ready without ${missing.join(', ')}`,
  todo: 'It is ready again as soon as they are. It answers requests to the other services meanwhile.',
  runbook: 'service-unreachable',
});

function processPart(name: string, view: UpstreamView | undefined, report: ProcessFigures | undefined): BoardPart {
  const up = view === undefined ? (report?.ready ?? 0) > 0 : view.ready && !view.refusing;
  const faults = report === undefined ? [] : [...absence(report, up), ...checks(report), ...slowness(report)];
  if (view?.refusing === true) faults.push(breakerOpen);
  if (!up && faults.length === 0) faults.push(unreachable(name));
  const state = up ? (faults.length > 0 ? 'impaired' : 'ready') : 'not ready';
  return { kind: 'process', name, state, faults: causesFirst(faults) };
}

const breakerOpen: BoardFault = {
  kind: 'requests-refused',
  what: 'most requests failed',
  todo: 'The gateway refuses requests to it for a few seconds, then tries one.',
  runbook: 'breaker-open',
};

const logOf = (name: string): string => `Read its log (${operatorCommand('logs', name)})`;

const unreachable = (name: string): BoardFault => ({
  kind: 'process-unreachable',
  what: 'cannot be reached',
  todo: `${logOf(name)}, and check /health/ready. ${name.toUpperCase()}_URL must be the address where it listens.`,
  runbook: 'service-unreachable',
});

function absence({ process, known, replicas, ready }: ProcessFigures, up: boolean): BoardFault[] {
  const runbook = 'process-down';
  if (replicas === 0 && up) {
    const todo = 'It works, but its metrics cannot be read: METRICS_URLS must be the address where it offers them.';
    return [{ kind: 'metrics-unavailable', what: 'its metrics are unavailable', todo, runbook }];
  }
  if (replicas === 0) {
    const todo = `Does its process run? ${logOf(process)}: its end has the reason.`;
    return [{ kind: 'process-silent', what: 'nothing answers', todo, runbook }];
  }
  if (ready === known || ready === 0) return [];
  const todo = `${logOf(process)}: it shows which replica, and why. The other replicas serve its requests meanwhile.`;
  return [{ kind: 'replica-not-ready', what: `${known - ready} of ${known} not ready`, todo, runbook }];
}

function checks({ process, failing }: ProcessFigures): BoardFault[] {
  // The lag of the outbox is shown at its schema.
  return failing
    .filter((check) => check !== 'outboxLag')
    .map((check) => ({ kind: 'check-fails', what: `check ${check} fails`, ...remedy(process, check) }));
}

function remedy(process: string, check: string): Pick<BoardFault, 'todo' | 'runbook'> {
  // The remedy is shown at the database and at the broker.
  if (check === 'database')
    return { todo: 'It is ready again as soon as its database answers.', runbook: 'service-unreachable' };
  if (check === 'events') return { todo: 'It is ready again as soon as the broker answers.', runbook: 'outbox-lag' };
  return { todo: `${logOf(process)}: it has the reason.`, runbook: 'service-unreachable' };
}

function slowness({ process, requests, failed, most }: ProcessFigures): BoardFault[] {
  const faults: BoardFault[] = [];
  if (failed > requests * mostFailed) {
    const todo = `${logOf(process)}: it has a line for each failed request, with the reason.`;
    faults.push({ kind: 'requests-fail', what: `${failed} of ${requests} failed`, todo, runbook: 'requests-fail' });
  }
  if (requests >= fewestRequests && most > slowest) {
    const todo = 'Find the operation below, and check the load of the machine and of the database.';
    faults.push({ kind: 'requests-slow', what: 'slow requests', todo, runbook: 'requests-slow' });
  }
  return faults;
}

const databaseUnreachable: BoardFault = {
  kind: 'database-unreachable',
  what: 'unreachable',
  todo: 'Does PostgreSQL run, and does it accept connections of this role?',
  runbook: 'service-unreachable',
};

const brokerUnreachable: BoardFault = {
  kind: 'broker-unreachable',
  what: 'unreachable',
  todo: 'Does the broker run, and does it accept messages? Events wait until then, and none is lost.',
  runbook: 'outbox-lag',
};

function schemaPart({ process: name, replicas, failing, lag = 0 }: ProcessFigures): BoardPart {
  const kind = 'schema';
  if (replicas === 0) return { kind, name, state: 'unknown', faults: [] };
  if (failing.includes('database')) return { kind, name, state: 'not ready', faults: [databaseUnreachable] };
  if (lag <= longestLag) return { kind, name, state: 'ready', faults: [] };
  const todo = 'The relay does not publish them: does the broker run, and accept messages?';
  const what = `events wait since ${Math.round(lag)} s`;
  const faults: BoardFault[] = [{ kind: 'events-unpublished', what, todo, runbook: 'outbox-lag' }];
  return { kind, name, state: 'impaired', faults };
}

/**
 * Returns the state of the broker, which has no metrics: it is derived from the checks of the processes and the metrics
 * of the queues.
 */
function brokerPart(reports: readonly ProcessFigures[], queues: readonly QueueFigures[]): BoardPart {
  const missed = reports.some(({ failing }) => failing.includes('events'));
  const state = missed ? 'not ready' : queues.length > 0 ? 'ready' : 'unknown';
  return { kind: 'broker', name: 'broker', state, faults: missed ? [brokerUnreachable] : [] };
}

function queuePart({ consumer: name, waiting, delayed, dead }: QueueFigures): BoardPart {
  const faults: BoardFault[] = [];
  if (dead > 0) {
    const command = (verb: string): string => operatorCommand('shop', `events dead ${verb}`);
    const todo = `Given up after seven attempts: ${command('list')} shows why, ${command('replay --all')} tries again.`;
    const what = dead === 1 ? '1 dead letter' : `${dead} dead letters`;
    faults.push({ kind: 'events-given-up', what, todo, runbook: 'dead-letters' });
  }
  if (delayed > 0) {
    const [service = ''] = name.split('.');
    const todo = `${logOf(service)}: it has the reason. After seven attempts an event becomes a dead letter.`;
    const what = delayed === 1 ? '1 event is tried again' : `${delayed} events are tried again`;
    faults.push({ kind: 'events-retried', what, todo, runbook: 'queue-backlog' });
  }
  if (waiting + delayed > fullQueue) {
    const todo = 'More events arrive than are consumed: is the consumer slow, or does its handler fail?';
    faults.push({ kind: 'events-waiting', what: `${waiting + delayed} events wait`, todo, runbook: 'queue-backlog' });
  }
  return { kind: 'queue', name, state: faults.length > 0 ? 'impaired' : 'ready', faults: causesFirst(faults) };
}
