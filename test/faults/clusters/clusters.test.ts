// Injects every fault of the table into clusters of servers while customers shop, and then counts orders, stock,
// e-mails and replies. CLUSTER_SEED sets the schedule, and CLUSTER_ROUNDS the number of rounds through the table.
// Prints the effect of each fault and the time of the recovery.
import { writeSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Journal } from '../outages/journal.ts';
import { type Round, Rounds } from '../outages/rounds.ts';
import { clusterFaults } from './cluster-faults.ts';
import { type ClusterSystem, startClusterSystem } from './system.ts';

const seed = Number(process.env.CLUSTER_SEED ?? 20_261_125);
const times = Number(process.env.CLUSTER_ROUNDS ?? 1);
const patience = 180_000;

let system: ClusterSystem;
let rounds: Rounds<ClusterSystem>;
const results: Round[] = [];

beforeAll(async () => {
  const journal: Journal = { answers: [], orders: [], accounts: [] };
  system = await startClusterSystem({ seed, buyers: 6, journal });
  rounds = new Rounds({ system, journal, patience });
}, 600_000);

afterAll(async () => {
  await system?.stop();
  writeSync(1, `${toSummary(results)}\n`);
}, 120_000);

/** Counts the rounds and the replies of each status, and finds the longest recovery. */
function toSummary(done: readonly Round[]): string {
  const statuses = done.flatMap((round) => round.statuses);
  const counts = [...new Set(statuses)].sort().map((status) => {
    const times = statuses.filter((each) => each === status).length;
    return `${status === 0 ? 'without a reply' : status} ${times}`;
  });
  const longest = Math.max(0, ...done.map(({ recovery }) => recovery)) / 1000;
  return `${done.length} faults; ${statuses.length} requests: ${counts.join(', ')}; well after ${longest.toFixed(1)} s at most`;
}

describe.each(Array.from({ length: times }, (_, time) => time + 1))('round %d', (time) => {
  it.each(clusterFaults.map((fault, index) => [fault.name, fault, index] as const))(
    '%s',
    async (_, fault, index) => {
      const round = await rounds.run(fault, seed + time * 1_000 + index);
      results.push(round);
      expect(round).toMatchObject({ evidence: expect.any(String), violations: [] });
    },
    900_000,
  );

  it('no process of the shop exited during the round', () => {
    expect(system.all().map(({ name, deaths }) => `${name}: ${deaths()}`)).toEqual(
      system.all().map(({ name }) => `${name}: 0`),
    );
  });
});
