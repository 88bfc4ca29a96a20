// The path from an event to its .eml file, and to the event that reports the e-mail, on pg-boss and PostgreSQL.
import { mailFolderSuite } from './mail-folder-suite.ts';

mailFolderSuite('pg-boss');
