// HTTP semantics that the gateway and the services share, without Express and without PostgreSQL.
export { notModified } from './conditional.ts';
export { acceptsGzip } from './content-encoding.ts';
export { parseArrival, requestIdentity } from './request-identity.ts';
