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
export { escapeHtml } from './escape-html.ts';
export { createHealth, type Health } from './health.ts';
export { parseAddresses, urlOfHosts } from './hosts.ts';
export { isId, newId, parseId, withLowerCaseIds } from './id.ts';
export { createLineFormatter, createLog, type Log, type LogLevel, readLogLevel } from './log.ts';
export { memoryBounds } from './memory-bounds.ts';
export { type Pause, startPause } from './pause.ts';
export { random } from './random.ts';
export { startRepeating } from './repeat.ts';
export { inRequest, outsideRequests, requestNow } from './request-scope.ts';
export { type ProcessLife, type ProcessSettings, runProcess } from './run-process.ts';
export { StartError } from './start-error.ts';
export { toReason } from './to-reason.ts';
export { syncFolder, writeWhole } from './write-whole.ts';
