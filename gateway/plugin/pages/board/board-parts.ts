// The parts of the shop as the picture shows them: the state of each, what is wrong with it, and what to do about it.
import type { ProcessFigures, QueueFigures, ShopFigures } from './shop-metrics.ts';

/** `impaired`: it does its work, and somebody should look. `unknown`: whoever could tell does not answer. */
export type State = 'ready' | 'impaired' | 'not ready' | 'unknown';

export interface BoardPart {
  readonly kind: 'process' | 'schema' | 'broker' | 'queue';
  readonly name: string;
  readonly state: State;
  readonly faults: readonly BoardFault[];
}

export interface BoardFault {
  /** In a few words, for the picture. */
  readonly what: string;
  /** A sentence or two. */
  readonly todo: string;
  /** The page with the rest: its name in docs/runbooks. */
  readonly runbook: string;
}

/** What the gateway itself sees of a service. */
export interface Seen {
  readonly known: number;
  readonly usable: number;
  /** Whether its breaker is open. */
  readonly refusing: boolean;
}

// As the alerts have them, without their patience: a board is looked at when something may be wrong.
const longestLag = 30;
const fullQueue = 1_000;
const fewestRequests = 100;
const slowest = 500;
const mostFailed = 0.01;

/**
 * @param seen the services that the gateway leads to, by name
 * @param shop what the processes say of themselves; undefined while nobody was asked
 */
export function partsOf(seen: ReadonlyMap<string, Seen>, shop: ShopFigures | undefined): BoardPart[] {
  const { processes: said, queues } = shop ?? { processes: [], queues: [] };
  const names = new Set(['gateway', ...seen.keys(), ...said.map(({ process }) => process)]);
  const processes = [...names].map((name) =>
    processPart(
      name,
      seen.get(name),
      said.find((one) => one.process === name),
    ),
  );
  const owners = said.filter(({ process }) => process !== 'gateway');
  if (shop === undefined) return processes;
  return [...processes, ...owners.map(schemaPart), brokerPart(said, queues), ...queues.map(queuePart)];
}

function processPart(name: string, seen: Seen | undefined, said: ProcessFigures | undefined): BoardPart {
  // Whoever reads this got it from the gateway.
  const up = name === 'gateway' || (seen === undefined ? (said?.ready ?? 0) > 0 : seen.usable > 0 && !seen.refusing);
  const faults = said === undefined ? [] : [...absence(said, up), ...checks(said), ...slowness(said)];
  if (seen?.refusing === true) faults.unshift(breakerOpen);
  if (!up && faults.length === 0) faults.push(unreachable(name));
  return { kind: 'process', name, state: up ? (faults.length > 0 ? 'impaired' : 'ready') : 'not ready', faults };
}

const breakerOpen: BoardFault = {
  what: 'most requests failed',
  todo: 'The gateway refuses requests to it for a few seconds, then tries one.',
  runbook: 'breaker-open',
};

const unreachable = (name: string): BoardFault => ({
  what: 'cannot be reached',
  todo: `Its log and /health/ready say how it is; ${name.toUpperCase()}_URL must be the address where it listens.`,
  runbook: 'service-unreachable',
});

function absence({ known, replicas, ready }: ProcessFigures, up: boolean): BoardFault[] {
  const runbook = 'process-down';
  if (replicas === 0 && up) {
    const todo = 'It works and does not tell its figures: METRICS_URLS must be the address where it offers them.';
    return [{ what: 'its figures are away', todo, runbook }];
  }
  if (replicas === 0) {
    return [{ what: 'nothing answers', todo: 'Does its process run? Its log ends with what went wrong.', runbook }];
  }
  if (ready === known || ready === 0) return [];
  const todo = 'Which one, and why, say the logs. The others do its work meanwhile.';
  return [{ what: `${known - ready} of ${known} not ready`, todo, runbook }];
}

function checks({ failing }: ProcessFigures): BoardFault[] {
  // How long events wait is shown where they wait.
  return failing
    .filter((check) => check !== 'outboxLag')
    .map((check) => ({ what: `check ${check} fails`, ...remedy(check) }));
}

function remedy(check: string): Pick<BoardFault, 'todo' | 'runbook'> {
  if (check === 'database')
    return {
      todo: 'PostgreSQL does not answer it. Does it run, and take connections?',
      runbook: 'service-unreachable',
    };
  if (check === 'events')
    return { todo: 'The broker does not answer it. Does it run, and take messages?', runbook: 'outbox-lag' };
  return { todo: 'Its log says why.', runbook: 'service-unreachable' };
}

function slowness({ requests, failed, most }: ProcessFigures): BoardFault[] {
  const faults: BoardFault[] = [];
  if (failed > requests * mostFailed) {
    const todo = 'Its log has a line for each, with the request and the reason.';
    faults.push({ what: `${failed} of ${requests} failed`, todo, runbook: 'requests-fail' });
  }
  if (requests >= fewestRequests && most > slowest) {
    const todo = 'See which operation it is, and what the machine and the database do meanwhile.';
    faults.push({ what: 'slow requests', todo, runbook: 'requests-slow' });
  }
  return faults;
}

function schemaPart({ process: name, replicas, failing, lag = 0 }: ProcessFigures): BoardPart {
  const kind = 'schema';
  if (replicas === 0) return { kind, name, state: 'unknown', faults: [] };
  // What to do about it stands at the service.
  if (failing.includes('database')) return { kind, name, state: 'not ready', faults: [] };
  if (lag <= longestLag) return { kind, name, state: 'ready', faults: [] };
  const todo = 'The relay does not publish them: is the broker there, does it take messages?';
  const waits: BoardFault = { what: `events wait since ${Math.round(lag)} s`, todo, runbook: 'outbox-lag' };
  return { kind, name, state: 'impaired', faults: [waits] };
}

/** Known by those who ask for it: who needs it to be ready says so, and who reads its queues has their figures. */
function brokerPart(said: readonly ProcessFigures[], queues: readonly QueueFigures[]): BoardPart {
  const missed = said.some(({ failing }) => failing.includes('events'));
  const state = missed ? 'not ready' : queues.length > 0 ? 'ready' : 'unknown';
  return { kind: 'broker', name: 'broker', state, faults: [] };
}

function queuePart({ consumer: name, waiting, delayed, dead }: QueueFigures): BoardPart {
  const faults: BoardFault[] = [];
  if (dead > 0) {
    const todo =
      'Given up after seven attempts: the command `events dead list` shows why, `events dead replay` tries again.';
    faults.push({ what: dead === 1 ? '1 dead letter' : `${dead} dead letters`, todo, runbook: 'dead-letters' });
  }
  if (waiting + delayed > fullQueue) {
    const todo = 'More come than are taken: is the consumer slow, or does its handler fail?';
    faults.push({ what: `${waiting + delayed} events wait`, todo, runbook: 'queue-backlog' });
  }
  return { kind: 'queue', name, state: faults.length > 0 ? 'impaired' : 'ready', faults };
}
