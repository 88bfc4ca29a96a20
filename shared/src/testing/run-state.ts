// The data that the set-up of a test run passes to its test files and to its tear-down.
import type { EmbeddedPostgres } from '../embedded/index.ts';

/** The variable with the superuser's connection string. */
export const adminUrlVariable = 'SHOP_TEST_ADMIN_URL';

/** The variable with the path of the test file that this worker runs. */
export const fileVariable = 'SHOP_TEST_FILE';

/** The variable with the locale of the test databases, if it is not that of the server. */
export const localeVariable = 'SHOP_TEST_LOCALE';

/** The variable with the result of `slowness()` at the start of the run. */
export const paceVariable = 'SHOP_TEST_PACE';

/** Servers of this run and the folders to remove after them. */
export const running = new Map<EmbeddedPostgres, string>();

/** Functions to call at the end of the run, each of which stops a resource. */
export const stops: (() => Promise<void>)[] = [];
