// `npm run soak -- --hours N --seed S`: every fault of test/faults/outages, or with --clusters those of clusters, for hours.
import { clusterFaults } from '../clusters/cluster-faults.ts';
import { startClusterSystem } from '../clusters/system.ts';
import { clockFaults } from '../outages/clock-faults.ts';
import { eventFaults } from '../outages/event-faults.ts';
import { faults } from '../outages/faults.ts';
import { processFaults } from '../outages/process-faults.ts';
import { startSystem } from '../outages/system.ts';
import { soakCommand } from './command.ts';
import { soak } from './soak.ts';

/** Those of clusters, and those of test/faults/outages that need no single PostgreSQL or broker. */
const faultsOverClusters = [...clusterFaults, ...processFaults, ...eventFaults, ...clockFaults];

process.exit(
  await soakCommand(process.argv.slice(2), (options) =>
    options.clusters
      ? soak(options, { start: startClusterSystem, faults: faultsOverClusters, patience: 180_000 })
      : soak(options, { start: startSystem, faults, patience: 120_000 }),
  ),
);
