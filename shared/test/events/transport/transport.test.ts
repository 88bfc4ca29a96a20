// What every transport promises, on pg-boss on a real PostgreSQL.
import { transportSuite } from './transport-suite.ts';

transportSuite('pg-boss');
