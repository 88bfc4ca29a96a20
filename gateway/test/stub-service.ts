// A service with responses that a test defines. It records every request.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { freePorts } from '@shop/shared/embedded';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: string;
}

export interface StubService {
  readonly url: string;
  readonly port: number;
  /** The requests so far, without health probes. */
  readonly seen: SeenRequest[];
  readonly server: Server;
  /** Sends the response; by default 200 with the request's own method, path and body. */
  answer: RequestListener;
  ready: boolean;
  close(): Promise<void>;
  listen(): Promise<void>;
}

export async function startStub(): Promise<StubService> {
  const seen: SeenRequest[] = [];
  // As in the services: the gateway closes an idle connection first. Otherwise a request could meet a closed connection.
  const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
    if (request.url === '/health/ready') {
      response.writeHead(stub.ready ? 200 : 503).end();
      return;
    }
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    const { method = '', url = '', headers, rawHeaders } = request;
    seen.push({ method, url, headers, rawHeaders, body: Buffer.concat(chunks).toString() });
    await stub.answer(request, response);
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  // The port stays reserved while the service is stopped.
  const [port = 0] = await freePorts(1);
  await listen(port);
  const stub: StubService = {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    server,
    ready: true,
    answer: (request, response) => {
      const { body } = seen.at(-1) ?? { body: '' };
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ method: request.method, url: request.url, body }));
    },
    listen: () => listen(port),
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
  return stub;
}
