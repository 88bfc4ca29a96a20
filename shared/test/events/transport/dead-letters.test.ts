// The dead letters as operators see them, on pg-boss on a real PostgreSQL.
import { deadLettersSuite } from './dead-letters-suite.ts';

deadLettersSuite('pg-boss');
