// All faults of a shop over one PostgreSQL and one broker.
import { brokerFaults } from './broker-faults.ts';
import { clockFaults } from './clock-faults.ts';
import { databaseFaults } from './database-faults.ts';
import { eventFaults } from './event-faults.ts';
import type { Fault } from './fault.ts';
import { processFaults } from './process-faults.ts';
import type { System } from './system.ts';

export const faults: readonly Fault<System>[] = [
  ...processFaults,
  ...brokerFaults,
  ...databaseFaults,
  ...eventFaults,
  ...clockFaults,
];
