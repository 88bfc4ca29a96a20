// The environment variables of telemetry. Variables that begin with OTEL_ have the meaning that OpenTelemetry defines.
import {
  type Environment,
  integer,
  oneOf,
  optional,
  readConfig,
  readLogLevel,
  readTogether,
  share,
  string,
  url,
} from '../runtime/index.ts';
import { readInstallation } from '../shop/index.ts';

const collector = (name: string) => url(name, ['http', 'https']);

export type TelemetrySettings = ReturnType<typeof readTelemetry>;

/** @throws ConfigError naming every variable that is wrong */
export function readTelemetry(environment: Environment) {
  return readConfig(environment, {
    /** The port at which this process serves its metrics to Prometheus; undefined for none. */
    metricsPort: optional(integer('METRICS_PORT', { min: 1, max: 65_535 })),
    metricsHost: string('METRICS_HOST', '127.0.0.1'),
    /** The collector of spans and metrics; undefined for none. */
    endpoint: optional(collector('OTEL_EXPORTER_OTLP_ENDPOINT')),
    tracesEndpoint: optional(collector('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')),
    metricsEndpoint: optional(collector('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT')),
    tracesExporter: oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none'], 'otlp'),
    metricsExporter: oneOf('OTEL_METRICS_EXPORTER', ['otlp', 'none'], 'otlp'),
    disabled: oneOf('OTEL_SDK_DISABLED', ['true', 'false'], 'false'),
    serviceName: optional(string('OTEL_SERVICE_NAME')),
    /** The fraction of traces that is recorded. */
    sampled: share('OTEL_TRACES_SAMPLER_ARG', 0.05),
    /** Milliseconds between two batches of spans, and between two exports of metrics. */
    spanDelay: integer('OTEL_BSP_SCHEDULE_DELAY', { min: 1, max: 600_000, fallback: 5_000 }),
    metricInterval: integer('OTEL_METRIC_EXPORT_INTERVAL', { min: 100, max: 600_000, fallback: 60_000 }),
  });
}

/**
 * Reads all settings of a process from its environment: its own variables, and those of its log, its installation and
 * telemetry.
 * @param readOwn reads the process's own variables
 * @throws ConfigError naming every variable that is wrong
 */
export function readProcessSettings<Config>(environment: Environment, readOwn: (environment: Environment) => Config) {
  return readTogether(environment, {
    logLevel: readLogLevel,
    installation: readInstallation,
    config: readOwn,
    telemetry: readTelemetry,
  });
}
