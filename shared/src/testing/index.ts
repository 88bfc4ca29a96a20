// The door of what the tests of every workspace need.
export type { AnswerBody } from './answer-body.ts';
export { testBroker } from './broker.ts';
export { type BrokerServer, startBrokerServer } from './broker-server.ts';
export { type CallOptions, createClient, type TestAnswer, type TestClient } from './client.ts';
export { createTestDatabase, serviceFolder, type TestDatabase } from './database.ts';
export { eventually } from './eventually.ts';
export { installPackage } from './install-package.ts';
export { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';
export { slowness } from './pace.ts';
export { plainEnvironment } from './plain-environment.ts';
export { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts';
export { type StartOptions, startServices, type TestService, type TestServices } from './services.ts';
export { startIssuer, type TestIssuer } from './tokens.ts';
