// Starts the telemetry of a process, as configured by the environment.
import type { Environment, ProcessLife } from '../runtime/index.ts';
import { readTelemetry } from './settings.ts';

export interface TelemetryOptions {
  /**
   * Whether this process receives requests from clients. In that case, the clients' decision about recording is
   * ignored.
   */
  readonly edge?: boolean;
}

/**
 * Starts telemetry, and stops it last when the process stops. Call it first, because objects that were created earlier
 * are not measured. Without a configured exporter it does nothing and loads nothing.
 * @throws ConfigError for a wrong variable, StartError when METRICS_PORT is taken
 */
export async function startTelemetry(
  name: string,
  life: ProcessLife,
  { edge = false }: TelemetryOptions = {},
  environment: Environment = process.env,
): Promise<void> {
  const settings = readTelemetry(environment);
  const { endpoint, tracesEndpoint, tracesExporter, metricsEndpoint, metricsExporter } = settings;
  const below = (path: string): string | undefined => endpoint && `${endpoint.replace(/\/$/, '')}/${path}`;
  const sendTo = {
    spans: tracesExporter === 'none' ? undefined : (tracesEndpoint ?? below('v1/traces')),
    metrics: metricsExporter === 'none' ? undefined : (metricsEndpoint ?? below('v1/metrics')),
  };
  const wanted = [sendTo.spans, sendTo.metrics, settings.metricsPort].some((each) => each !== undefined);
  if (settings.disabled === 'true' || !wanted) return;
  const { startExporting } = await import('./export.ts');
  await startExporting({ name: settings.serviceName ?? name, edge, settings, sendTo }, life);
}
