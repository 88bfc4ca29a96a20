// What the set-up of a test run leaves for its test files and for its end.
import type { EmbeddedPostgres } from '../embedded/index.ts';

/** The superuser's connection string, handed to the test files in the environment. */
export const adminUrlVariable = 'SHOP_TEST_ADMIN_URL';

/** The variable with the result of `slowness()` at the start of the run. */
export const paceVariable = 'SHOP_TEST_PACE';

/** Servers of this run and the folders to remove after them. */
export const running = new Map<EmbeddedPostgres, string>();

/** What else has to be stopped at the end of the run. */
export const stops: (() => Promise<void>)[] = [];
