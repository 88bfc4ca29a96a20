// Injects every fault of the table into clusters of servers while customers shop, and then counts orders, stock,
// e-mails and replies. CLUSTER_SEED sets the schedule, and CLUSTER_ROUNDS the number of rounds through the table.
// Prints the effect of each fault and the time of the recovery.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Journal } from '../outages/journal.ts';
import { Rounds } from '../outages/rounds.ts';
import { postgresFaults } from './postgres-faults.ts';
import { rabbitmqFaults } from './rabbitmq-faults.ts';
import { type ClusterSystem, startClusterSystem } from './system.ts';

const seed = Number(process.env.CLUSTER_SEED ?? 20_261_125);
const times = Number(process.env.CLUSTER_ROUNDS ?? 1);
const patience = 180_000;

const faults = [...postgresFaults, ...rabbitmqFaults];

let system: ClusterSystem;
let rounds: Rounds<ClusterSystem>;

beforeAll(async () => {
  const journal: Journal = { answers: [], orders: [], accounts: [] };
  system = await startClusterSystem({ seed, buyers: 6, journal });
  rounds = new Rounds({ system, journal, patience });
}, 600_000);

afterAll(async () => {
  await system?.stop();
}, 120_000);

describe.each(Array.from({ length: times }, (_, time) => time + 1))('round %d', (time) => {
  it.each(faults.map((fault, index) => [fault.name, fault, index] as const))(
    '%s',
    async (_, fault, index) => {
      const round = await rounds.run(fault, seed + time * 1_000 + index);
      expect(round).toMatchObject({ evidence: expect.any(String), violations: [] });
      expect(round.archived).toBeGreaterThan(0);
    },
    900_000,
  );

  it('ended no process of the shop', () => {
    expect(system.all().map(({ name, deaths }) => `${name}: ${deaths()}`)).toEqual(
      system.all().map(({ name }) => `${name}: 0`),
    );
  });
});
