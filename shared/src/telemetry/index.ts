// Telemetry: metrics and traces of a process, and their export.
export { beginCounting, instruments, isMeasuring, observe, toMethod } from './instruments.ts';
export { readProcessSettings, readTelemetry } from './settings.ts';
export { sharedRead } from './shared-read.ts';
export { startTelemetry } from './start-telemetry.ts';
export {
  type Attributes,
  failSpan,
  inSpan,
  isTraced,
  runInSpan,
  type Span,
  SpanKind,
  SpanStatusCode,
  startRequestSpan,
  startSpan,
  toTraceparent,
} from './trace.ts';
