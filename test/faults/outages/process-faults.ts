// Processes that die, at a named point or all together, or that are suspended.
import { writeSync } from 'node:fs';
import type { ServiceName } from '@shop/shared/shop';
import { register } from './accounts.ts';
import { orderAndVanish } from './buyers.ts';
import type { CrashPoint } from './crash-points.ts';
import type { Deployment } from './deployment.ts';
import { countRows, type Fault, type Interrupts, pause, type Scene, seen } from './fault.ts';
import type { Supervised } from './supervised.ts';

/** Repeats `kill` until every process has died. @returns the evidence */
async function allDie(
  processes: readonly Supervised[],
  kill: (process: Supervised) => void,
): Promise<string | undefined> {
  const before = processes.map((each) => each.deaths());
  const living = () => processes.filter((each, index) => each.deaths() === before[index]);
  let calls = 0;
  const died = await seen(() => {
    // A process that was restarted for another reason is no longer armed, so all of them are armed again.
    if (calls++ % 20 === 0) for (const each of living()) kill(each);
    return living().length === 0;
  });
  if (died) return `${processes.map(({ name }) => name).join(', ')} died`;
  for (const each of living()) writeSync(1, `${each.name} lives on: ${each.output().slice(-1_000)}\n`);
  return undefined;
}

function crash(point: CrashPoint, services: readonly ServiceName[], interrupts: Interrupts): Fault {
  return {
    name: `${services.join(', ')} die ${point}`,
    interrupts,
    repeatsMails: services.includes('notifications'),
    async inject(scene) {
      const processes = services.flatMap((service) => scene.system.processes(service));
      const over = new AbortController();
      const registering = services.includes('accounts') ? keepRegistering(scene, over.signal) : undefined;
      const evidence = await allDie(processes, (process) => process.crashAt(point));
      over.abort();
      await registering;
      return evidence;
    },
  };
}

/** Registers new customers until it is stopped, because otherwise accounts would not write anything. */
async function keepRegistering({ system, journal, random }: Scene, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await register(journal, system.gatewayUrl, `customer-${random.integer(0, 2 ** 31)}-${journal.accounts.length}`);
  }
}

/**
 * The order during which both processes of orders die is never requested again, so its stock is released only when its
 * reservation is resolved.
 */
const abandonedOrder: Fault = {
  name: 'orders die between reservation and order, and the buyer with them',
  interrupts: 'service',
  async inject({ system, productIds, journal, random }) {
    const buyer = await system.buyer(`vanishing-${random.integer(0, 2 ** 31)}`);
    let orders = 0;
    const evidence = await allDie(system.processes('orders'), (process) => {
      process.crashAt('between reservation and order', buyer.accountId);
      const lines = [{ productId: productIds[0] ?? '', quantity: 1 }];
      const key = `vanished-${buyer.accountId}-${orders++}`;
      orderAndVanish(journal, system.gatewayUrl, buyer, { key, accountId: buyer.accountId, lines });
    });
    const reservations = await countRows(system, `catalogue.reservations WHERE account_id = '${buyer.accountId}'`);
    return evidence && reservations > 0 ? `${evidence}, ${reservations} reservations were left behind` : undefined;
  },
};

function killed(name: string, interrupts: Interrupts, pick: (system: Deployment) => readonly Supervised[]): Fault {
  return {
    name,
    interrupts,
    inject: ({ system }) => allDie(pick(system), (process) => process.kill('SIGKILL')),
  };
}

export const processFaults: readonly Fault[] = [
  crash('after BEGIN', ['orders', 'catalogue', 'accounts'], 'service'),
  crash('before COMMIT', ['orders', 'catalogue', 'accounts'], 'service'),
  crash('after COMMIT before the answer', ['orders', 'catalogue', 'accounts'], 'service'),
  crash('between reservation and order', ['orders'], 'service'),
  abandonedOrder,
  crash('after publish before mark', ['orders', 'catalogue', 'notifications', 'accounts'], 'service'),
  crash("after the handler's COMMIT before the ack", ['orders', 'catalogue', 'notifications', 'changes'], 'service'),
  crash('after the e-mail before its mark', ['notifications'], 'nothing'),
  killed('one catalogue process is killed', 'service', (system) => system.processes('catalogue').slice(0, 1)),
  killed('one orders process is killed', 'service', (system) => system.processes('orders').slice(1)),
  killed('the processes of changes are killed', 'nothing', (system) => system.processes('changes')),
  killed('the gateway is killed', 'gateway', (system) => system.processes('gateway')),
  {
    ...killed('all processes are killed at once and start in any order', 'gateway', (system) => system.all()),
    recovery: 30_000,
    repeatsMails: true,
  },
  {
    name: 'a catalogue process hangs',
    interrupts: 'service',
    async inject({ system }) {
      const [process] = system.processes('catalogue');
      if (process === undefined) return undefined;
      process.kill('SIGSTOP');
      try {
        const silent = await seen(() => isSilent(process));
        await pause(3_000);
        return silent ? `${process.name} answered nothing` : undefined;
      } finally {
        process.kill('SIGCONT');
      }
    },
  },
];

function isSilent({ url }: Supervised): Promise<boolean> {
  return fetch(`${url}/health/live`, { signal: AbortSignal.timeout(1_000) }).then(
    () => false,
    () => true,
  );
}
