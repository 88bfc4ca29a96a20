// The door of telemetry: what a process counts, times and traces, and how that leaves it.
export { beginCounting, type GaugeOptions, instruments, isMeasuring, methodOf, observe } from './instruments.ts';
export { readTelemetry } from './settings.ts';
export { startTelemetry, type TelemetryOptions } from './start-telemetry.ts';
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
  traceparentOf,
} from './trace.ts';
