// From the event to the .eml file and the event that reports it, on pg-boss and PostgreSQL.
import { mailFolderSuite } from './mail-folder-suite.ts';

mailFolderSuite('pg-boss');
