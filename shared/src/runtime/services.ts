// The services of the shop. This is the only list of them: schemas, broker users, secrets, processes and tests follow
// from it.

/** In the order of documentation and output. Each has a folder of its name in `services/`. */
export const serviceNames = ['accounts', 'orders', 'catalogue', 'notifications'] as const;

export type ServiceName = (typeof serviceNames)[number];
