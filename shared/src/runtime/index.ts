// The basis of every process: configuration, logs, health, ids, start and stop.

export { addressIn, clientNetwork, forwardedNetwork, plainAddress } from './client-network.ts';
export { closeServer } from './close-server.ts';
export {
  ConfigError,
  drain,
  type Environment,
  integer,
  isSet,
  keyList,
  oneOf,
  optional,
  readConfig,
  readTogether,
  type Secrets,
  secret,
  secretList,
  share,
  string,
  url,
  type Variable,
  withoutPassword,
} from './config.ts';
export { currency, decimalsOf } from './currency.ts';
export { type EmailAddress, emailKey, parseEmail, unparsedEmailKey } from './email-address.ts';
export { createHealth, type Health } from './health.ts';
export { addressesOf, urlOfHosts } from './hosts.ts';
export { isId, newId, parseId, withLowerCaseIds } from './id.ts';
export { type CommandPurpose, type Installation, operatorCommand, readInstallation } from './installation.ts';
export { createLineFormatter, createLog, type Log, type LogLevel, readLogLevel } from './log.ts';
export { type Login, readLogins } from './logins.ts';
export { memoryBounds } from './memory-bounds.ts';
export { type Pause, startPause } from './pause.ts';
export { random } from './random.ts';
export { startRepeating } from './repeat.ts';
export { inRequest, outsideRequests, requestNow } from './request-scope.ts';
export { type ProcessLife, type ProcessSettings, runProcess } from './run-process.ts';
export { type ServiceName, serviceNames } from './services.ts';
export { StartError } from './start-error.ts';
export { toReason } from './to-reason.ts';
export { syncFolder, writeWhole } from './write-whole.ts';
