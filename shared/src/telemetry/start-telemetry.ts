// Starts the telemetry of a process.
import type { ProcessLife } from '../runtime/index.ts';
import type { TelemetrySettings } from './settings.ts';

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
 * @throws StartError when METRICS_PORT is taken
 */
export async function startTelemetry(
  name: string,
  life: ProcessLife,
  settings: TelemetrySettings,
  { edge = false }: TelemetryOptions = {},
): Promise<void> {
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
