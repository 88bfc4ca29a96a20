// Members of the PostgreSQL cluster are killed, suspended, replaced, partitioned or lost. A fault that interrupts the
// shop ends when a transaction commits again, whatever the shop and HAProxy have noticed by then.
import { type Fault, pause, seen } from '../outages/fault.ts';
import type { Member } from './patroni.ts';
import type { PostgresCluster } from './postgres-cluster.ts';
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

async function thawStopped({ postgres }: ClusterSystem): Promise<void> {
  for (const member of stopped.splice(0)) await member.thaw();
  await postgres.untilComplete();
}

async function reconnect({ postgres }: ClusterSystem): Promise<void> {
  for (const { machine } of postgres.members) await machine.reconnect();
  await postgres.untilComplete();
}

/** Resolves to the time until commits waited for another standby than the lost one; undefined when none replaced it. */
async function untilReplaced(postgres: PostgresCluster, lost: Member): Promise<string | undefined> {
  const began = performance.now();
  await postgres.primary();
  const time = inSeconds(began);
  return (await seen(async () => (await postgres.synchronousStandby()) !== lost)) ? time : undefined;
}

const inSeconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`;

export const postgresFaults: readonly ClusterFault[] = [
  {
    name: 'the primary is killed',
    interrupts: 'database',
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
    interrupts: 'database',
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
    interrupts: 'database',
    async inject({ system: { postgres } }) {
      const former = await postgres.primary();
      const began = performance.now();
      stopped.push(former);
      await former.freeze();
      const next = await postgres.nextPrimary(former);
      return `${former.name} was suspended, and ${next.name} committed after ${inSeconds(began)}`;
    },
    repair: thawStopped,
  },
  {
    name: 'the primary is partitioned from its peers',
    interrupts: 'database',
    async inject({ system: { postgres } }) {
      const former = await postgres.primary();
      const began = performance.now();
      await former.machine.cut('peers');
      // The shop still reaches it, so it must refuse writes before there is another primary.
      await postgres.untilStandbys([former]);
      const refused = inSeconds(began);
      const next = await postgres.nextPrimary(former);
      return `${former.name} was read-only after ${refused}, and ${next.name} committed after ${inSeconds(began)}`;
    },
    repair: reconnect,
  },
  {
    name: 'the primary is partitioned from the services',
    interrupts: 'database',
    async inject({ system: { postgres }, journal }) {
      const { machine, name } = await postgres.primary();
      const began = performance.now();
      await machine.cut('shop');
      const refused = await seen(() => journal.answers.some(({ at, status }) => at > began && status === 503));
      await pause(lasting);
      await machine.reconnect();
      const next = await postgres.primary();
      const outcome = `${name} was not reached for ${inSeconds(began)}, and ${next.name} commits`;
      return refused ? `${outcome}; requests were answered 503 meanwhile` : undefined;
    },
    repair: ({ postgres }) => postgres.untilComplete(),
  },
  {
    name: 'the primary is partitioned from its peers and from the services',
    interrupts: 'database',
    async inject({ system: { postgres } }) {
      const former = await postgres.primary();
      const began = performance.now();
      await former.machine.cut('peers', 'shop');
      const next = await postgres.nextPrimary(former);
      return `${former.name} was partitioned, and ${next.name} committed after ${inSeconds(began)}`;
    },
    repair: reconnect,
  },
  {
    name: 'the synchronous standby is lost',
    interrupts: 'database',
    async inject({ system: { postgres } }) {
      const standby = await postgres.synchronousStandby();
      stopped.push(standby);
      await standby.kill();
      const time = await untilReplaced(postgres, standby);
      return time && `${standby.name} was killed, and commits waited for another one for ${time}`;
    },
    repair: startStopped,
  },
  {
    name: 'the synchronous standby hangs',
    interrupts: 'database',
    async inject({ system: { postgres } }) {
      const standby = await postgres.synchronousStandby();
      stopped.push(standby);
      await standby.freeze();
      const time = await untilReplaced(postgres, standby);
      return time && `${standby.name} was suspended, and commits waited for another one for ${time}`;
    },
    repair: thawStopped,
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
    interrupts: 'database',
    async inject({ system: { postgres } }) {
      const began = performance.now();
      await Promise.all([postgres.etcd.kill(0), postgres.etcd.kill(1)]);
      await postgres.untilStandbys();
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
    interrupts: 'database',
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
