// Receives the data that processes send by OTLP over HTTP, in place of a collector.
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

export interface OtlpReceiver {
  /** The value for OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string;
  /** All spans that were received so far. */
  readonly spans: readonly ReceivedSpan[];
  /** Service → names of the metrics that it has sent. */
  readonly metrics: ReadonlyMap<string, ReadonlySet<string>>;
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
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const metrics = new Map<string, Set<string>>();
  const take = ({ resourceSpans = [], resourceMetrics = [] }: Export): void => {
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = serviceOf(resource);
      for (const { name, traceId, spanId, parentSpanId } of scopeSpans.flatMap((scope) => scope.spans)) {
        spans.push({ service, name, traceId, spanId, parentSpanId });
      }
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      const names = metrics.get(serviceOf(resource)) ?? new Set();
      metrics.set(serviceOf(resource), names);
      for (const { name } of scopeMetrics.flatMap((scope) => scope.metrics)) names.add(name);
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

function serviceOf({ attributes }: Resource): string {
  return attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
}
