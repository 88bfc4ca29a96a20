// The OpenTelemetry SDK: spans and metrics to a collector (OTLP), and metrics for Prometheus at an endpoint of this
// process.
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import { type IMetricReader, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { type Log, newId, type ProcessLife } from '../runtime/index.ts';
import { measureWith } from './instruments.ts';
import { observeProcess } from './process-figures.ts';
import { serveMetrics } from './serve-metrics.ts';
import type { TelemetrySettings } from './settings.ts';
import { traceWith } from './trace.ts';

export interface ExportOptions {
  readonly name: string;
  readonly edge: boolean;
  readonly settings: TelemetrySettings;
  /** Full URLs; undefined for signals that are not exported. */
  readonly sendTo: { readonly spans: string | undefined; readonly metrics: string | undefined };
}

/** @throws StartError when METRICS_PORT is taken */
export async function startExporting(options: ExportOptions, life: ProcessLife): Promise<void> {
  const { name, settings, sendTo } = options;
  const resource = describe(name);
  if (sendTo.spans !== undefined || sendTo.metrics !== undefined) reportTrouble(life.log);
  if (sendTo.spans !== undefined) recordSpans(sendTo.spans, resource, options, life);
  const readers: IMetricReader[] = [];
  if (settings.metricsPort !== undefined) {
    readers.push(await serveMetrics({ host: settings.metricsHost, port: settings.metricsPort }, life));
  }
  if (sendTo.metrics !== undefined) {
    readers.push(
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: sendTo.metrics }),
        exportIntervalMillis: settings.metricInterval,
        exportTimeoutMillis: Math.min(settings.metricInterval, 10_000),
      }),
    );
  }
  if (readers.length > 0) measure(resource, readers, life);
}

function describe(name: string): Resource {
  return resourceFromAttributes({
    'service.name': name,
    'service.namespace': 'shop',
    'service.instance.id': newId(),
  }).merge(detectResources({ detectors: [envDetector] }));
}

function measure(resource: Resource, readers: IMetricReader[], life: ProcessLife): void {
  const provider = new MeterProvider({ resource, readers });
  measureWith(provider.getMeter('shop'));
  const stopWatching = observeProcess();
  life.onStop('metrics', async () => {
    stopWatching();
    await provider.shutdown();
  });
}

function recordSpans(url: string, resource: Resource, { edge, settings }: ExportOptions, life: ProcessLife): void {
  const ratio = new TraceIdRatioBasedSampler(settings.sampled);
  const provider = new TracerProvider({
    resource,
    sampler: edge ? ratio : new ParentBasedSampler({ root: ratio }),
    spanProcessors: [
      new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }), scheduledDelayMillis: settings.spanDelay }),
    ],
  });
  traceWith(provider.getTracer('shop'), edge);
  life.onStop('spans', () => {
    traceWith(undefined, edge);
    return provider.shutdown();
  });
}

/** Logs each loss of spans and metrics while the collector is unavailable. */
function reportTrouble(log: Log): void {
  const warn = (message: string): void => log.warn({ reason: message.slice(0, 500) }, 'telemetry');
  const quiet = (): void => {};
  diag.setLogger(
    { error: warn, warn, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
