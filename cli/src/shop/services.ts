// The services of the shop by name; each has a schema of its own.
import type { SchemaName } from '@shop/shared/database';

export type ServiceName = Exclude<SchemaName, 'events'>;

/** In the order in which they are listed for people. */
export const services = ['accounts', 'orders', 'catalogue', 'notifications'] as const satisfies readonly ServiceName[];
