// HTTP semantics for the gateway and the services, without Express and without PostgreSQL.
export { notModified } from './conditional.ts';
export { acceptsGzip } from './content-encoding.ts';
export { preferredType } from './preferred-type.ts';
export { parseArrival, requestIdentity } from './request-identity.ts';
