// Receives the data that processes send by OTLP over HTTP, instead of a collector.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** The id of the parent span; undefined for the first span of a trace. */
  readonly parentSpanId: string | undefined;
}

export interface ReceivedMetric {
  readonly unit: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  /** The attributes of each combination that was sent. */
  readonly attributes: readonly (readonly string[])[];
  /** The upper bounds of the buckets of a histogram. */
  readonly boundaries: readonly number[];
}

export interface OtlpReceiver {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** All spans that were received so far. */
  readonly spans: readonly ReceivedSpan[];
  /** Service → name → the metric as it was sent so far. */
  readonly metrics: ReadonlyMap<string, ReadonlyMap<string, ReceivedMetric>>;
  close(): Promise<void>;
}

interface Resource {
  readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue?: string } }[];
}

interface Export {
  readonly resourceSpans?: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, 'service'>[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly resource: Resource;
    readonly scopeMetrics: readonly { readonly metrics: readonly SentMetric[] }[];
  }[];
}

interface Points {
  readonly dataPoints: readonly {
    readonly attributes: readonly { readonly key: string }[];
    readonly explicitBounds?: readonly number[];
  }[];
}

/** A metric of OTLP. The member that is present names its kind. */
interface SentMetric {
  readonly name: string;
  readonly unit: string;
  readonly sum?: Points;
  readonly gauge?: Points;
  readonly histogram?: Points;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, Map<string, ReceivedMetric>>();
  const take = ({ resourceSpans = [], resourceMetrics = [] }: Export): void => {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = serviceOf(resource);
      for (const { name, traceId, spanId, parentSpanId } of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ service, name, traceId, spanId, parentSpanId });
      }
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const names = metrics.get(serviceOf(resource)) ?? new Map<string, ReceivedMetric>();
      metrics.set(serviceOf(resource), names);
      for (const metric of scopeMetrics.flatMap((scope) => scope.metrics))
        names.set(metric.name, received(metric, names.get(metric.name)));
    }
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('error', () => {});
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      take(JSON.parse(Buffer.concat(chunks).toString()) as Export);
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  server.on('clientError', (_error, socket) => socket.destroy());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    metrics,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Adds the sent values to the known values of a metric. */
function received({ unit, sum, gauge, histogram }: SentMetric, known: ReceivedMetric | undefined): ReceivedMetric {
  const points = (sum ?? gauge ?? histogram)?.dataPoints ?? [];
  const sent = points.map(({ attributes }) => attributes.map(({ key }) => key).sort());
  const combinations = new Map([...(known?.attributes ?? []), ...sent].map((names) => [names.join(), names]));
  return {
    unit,
    kind: histogram !== undefined ? 'histogram' : gauge !== undefined ? 'gauge' : 'counter',
    attributes: [...combinations.values()],
    boundaries: points.at(-1)?.explicitBounds ?? known?.boundaries ?? [],
  };
}

function serviceOf({ attributes }: Resource): string {
  return attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
}
