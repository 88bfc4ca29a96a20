// The embedded PostgreSQL: a real server from npm, for `npm start` and for tests.
export { makeDataFolder } from './cluster.ts';
export { lockFolder, processIdentity } from './folder-lock.ts';
export { freePorts } from './free-ports.ts';
export { DataGoneError, type EmbeddedPostgres, requireData, startEmbeddedPostgres } from './postgres.ts';
