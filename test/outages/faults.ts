// All faults of a round.
import { brokerFaults } from './broker-faults.ts';
import { clockFaults } from './clock-faults.ts';
import { databaseFaults } from './database-faults.ts';
import { eventFaults } from './event-faults.ts';
import type { Fault } from './fault.ts';
import { processFaults } from './process-faults.ts';

export const faults: readonly Fault[] = [
  ...processFaults,
  ...brokerFaults,
  ...databaseFaults,
  ...eventFaults,
  ...clockFaults,
];
