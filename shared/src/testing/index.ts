// Test support for every workspace.
export {
  type AccessCaller,
  type AccessResource,
  type AccessRule,
  type AccessRules,
  type AccessTarget,
  accessCallers,
  accessTargets,
  type SettingResource,
  scopesOf,
  unlessAbsent,
} from './access-rules.ts';
export type { AnswerBody } from './answer-body.ts';
export { type CallOptions, createClient, findOperation, type TestAnswer, type TestClient } from './client.ts';
export {
  checkCall,
  type ProviderStates,
  type ReceivedEvents,
  receiveEvents,
} from './contracts/check-recordings.ts';
export type { Values } from './contracts/placeholders.ts';
export { type RecordedService, startRecordedService } from './contracts/recorded-service.ts';
export {
  dataOf,
  eventOf,
  messageOf,
  type RecordedCall,
  type RecordedEvent,
  recordedCalls,
  recordedEvents,
} from './contracts/recordings.ts';
export { createTestDatabase, serviceFolder, type TestDatabase, useLocale } from './database.ts';
export { eventually } from './eventually.ts';
export { highHoldLimits } from './hold-limits.ts';
export { lockWaits } from './lock-waits.ts';
export { atThisPace, slowness } from './pace.ts';
export { plainEnvironment } from './plain-environment.ts';
export { nodesOf, type Plan, plansOf } from './plans.ts';
export { setReadOnly } from './read-only.ts';
export { recordPlans } from './recorded-plans.ts';
export { testBroker } from './servers/broker.ts';
export { type BrokerServer, importDefinitions, startBrokerServer } from './servers/broker-server.ts';
export { installPackage } from './servers/install-package.ts';
export {
  type OtlpReceiver,
  type ReceivedMetric,
  type ReceivedSpan,
  startOtlpReceiver,
} from './servers/otlp-receiver.ts';
export { type ReplicatedPostgres, startReplicatedPostgres } from './servers/replicated-postgres.ts';
export { type StartOptions, startServices, testSecret } from './services.ts';
export type { TestService, TestServices } from './test-service.ts';
export { startIssuer, type TestIssuer } from './tokens.ts';
export { connectTestTransport } from './transport.ts';
