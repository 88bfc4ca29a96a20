// The relay, on pg-boss on a real PostgreSQL.
import { relaySuite } from './relay-suite.ts';

relaySuite('pg-boss');
