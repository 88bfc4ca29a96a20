// Each event takes effect once, on pg-boss on a real PostgreSQL.
import { consumeSuite } from './consume-suite.ts';

consumeSuite('pg-boss');
