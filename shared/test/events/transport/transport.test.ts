// The guarantees of every transport, on pg-boss on a real PostgreSQL.
import { transportSuite } from './transport-suite.ts';

transportSuite('pg-boss');
