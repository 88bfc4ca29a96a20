// Serves metrics to Prometheus on a separate port, which the gateway does not expose.
import { createServer } from 'node:http';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { type ProcessLife, StartError } from '../runtime/index.ts';

/**
 * Serves `/metrics`, until the process stops.
 * @returns the reader that collects the metrics
 * @throws StartError when the port is taken or not allowed
 */
export async function serveMetrics(
  { host, port }: { host: string; port: number },
  life: ProcessLife,
): Promise<PrometheusExporter> {
  // Every metric has the name of the service as a label, so that rules do not depend on how Prometheus discovers the
  // processes. Only `up` gets it from there.
  const exporter = new PrometheusExporter({
    preventServerStart: true,
    withResourceConstantLabels: /^service\.name$/,
    withoutScopeInfo: true,
    withoutTargetInfo: true,
  });
  const server = createServer((request, response) => {
    if (request.url === '/metrics' && request.method === 'GET') exporter.getMetricsRequestHandler(request, response);
    else response.writeHead(404, { 'Content-Length': 0 }).end();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'the port is taken' : error.code;
      reject(new StartError(`cannot offer metrics on ${host}:${port} (${reason})`));
    });
    server.listen(port, host, resolve);
  });
  life.onStop('metrics listener', () => {
    server.close();
    server.closeAllConnections();
  });
  return exporter;
}
