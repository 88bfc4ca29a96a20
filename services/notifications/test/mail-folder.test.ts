// From the event to the .eml file and the event back, on pg-boss on a real PostgreSQL.
import { mailFolderSuite } from './mail-folder-suite.ts';

mailFolderSuite('pg-boss');
