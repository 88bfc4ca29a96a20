// Members of the PostgreSQL cluster are killed, suspended, replaced or lost. A fault that interrupts the shop ends when
// a transaction commits again, whatever HAProxy has noticed by then.
import { type Fault, pause } from '../outages/fault.ts';
import type { Member } from './patroni.ts';
import type { ClusterSystem } from './system.ts';

type ClusterFault = Fault<ClusterSystem>;

/** How long a condition lasts that must not interrupt the shop. */
const lasting = 8_000;

/** The members that a fault has stopped, until they are repaired. */
const stopped: Member[] = [];

async function startStopped({ postgres }: ClusterSystem): Promise<void> {
  for (const member of stopped.splice(0)) member.start();
  await postgres.untilComplete();
}

const inSeconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

export const postgresFaults: readonly ClusterFault[] = [
  {
    name: 'the primary is killed',
    interrupts: 'service',
    async inject({ system: { postgres } }) {
      const former = await postgres.primary();
      const began = performance.now();
      stopped.push(former);
      await former.kill();
      const next = await postgres.nextPrimary(former);
      return `${former.name} was killed, and ${next.name} committed after ${inSeconds(began)}`;
    },
    repair: startStopped,
  },
  {
    name: 'the primary is switched over',
    interrupts: 'service',
    async inject({ system: { postgres } }) {
      const former = await postgres.primary();
      const began = performance.now();
      const next = await postgres.switchOver();
      return `${next.name} replaced ${former.name}, and committed after ${inSeconds(began)}`;
    },
    repair: ({ postgres }) => postgres.untilComplete(),
  },
  {
    name: 'the primary hangs, and continues when there is another one',
    interrupts: 'service',
    async inject({ system: { postgres } }) {
      const former = await postgres.primary();
      const began = performance.now();
      stopped.push(former);
      await former.freeze();
      const next = await postgres.nextPrimary(former);
      return `${former.name} was suspended, and ${next.name} committed after ${inSeconds(began)}`;
    },
    async repair({ postgres }) {
      for (const member of stopped.splice(0)) await member.thaw();
      await postgres.untilComplete();
    },
  },
  {
    name: 'the synchronous standby is lost',
    interrupts: 'service',
    async inject({ system: { postgres } }) {
      const standby = await postgres.synchronousStandby();
      const began = performance.now();
      stopped.push(standby);
      await standby.kill();
      await postgres.primary();
      return `${standby.name} was killed, and commits waited for another one for ${inSeconds(began)}`;
    },
    repair: startStopped,
  },
  {
    name: 'the other standby is lost',
    interrupts: 'nothing',
    async inject({ system: { postgres } }) {
      const used = [await postgres.primary(), await postgres.synchronousStandby()];
      const standby = postgres.members.find((member) => !used.includes(member));
      if (standby === undefined) return undefined;
      stopped.push(standby);
      await standby.kill();
      await pause(lasting);
      return `${standby.name} was killed`;
    },
    repair: startStopped,
  },
  {
    name: 'etcd loses its majority',
    interrupts: 'service',
    async inject({ system: { postgres } }) {
      const began = performance.now();
      await Promise.all([postgres.etcd.kill(0), postgres.etcd.kill(1)]);
      await postgres.untilWithoutPrimary();
      const without = inSeconds(began);
      await pause(lasting);
      postgres.etcd.start(0);
      postgres.etcd.start(1);
      const next = await postgres.primary();
      return `no member committed after ${without}, and ${next.name} committed again after ${inSeconds(began)}`;
    },
    repair: ({ postgres }) => postgres.untilComplete(),
  },
  {
    name: 'all members are killed',
    interrupts: 'service',
    async inject({ system: { postgres } }) {
      const began = performance.now();
      await Promise.all(postgres.members.map((member) => member.kill()));
      await pause(1_000);
      for (const member of postgres.members) member.start();
      const next = await postgres.primary();
      return `${next.name} committed after ${inSeconds(began)}`;
    },
    repair: ({ postgres }) => postgres.untilComplete(),
  },
];
