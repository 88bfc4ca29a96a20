// An endpoint of webhooks for tests: it stores what it received, and answers as the test says.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence?: string;
  readonly previoussequence?: string;
}

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: ReceivedEvent;
  readonly path: string;
}

export interface Receiver {
  readonly url: string;
  /** All requests in their order. */
  readonly requests: ReceivedRequest[];
  /** The requests with changes. */
  changes(): ReceivedRequest[];
  /** Decides about the responses from now on. Without a function, all are answered with 204. */
  answer(decide?: Decide): void;
  close(): Promise<void>;
}

/** Returns the status; undefined when the function has answered, or never answers. */
export type Decide = (request: ReceivedRequest, response: ServerResponse) => number | undefined;

export async function startReceiver(): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  let decide: Decide = () => 204;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const event = JSON.parse(body) as ReceivedEvent;
    const received = { headers: request.headers, body, event, path: request.url ?? '' };
    requests.push(received);
    const status = decide(received, response);
    if (status !== undefined) response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    requests,
    changes: () => requests.filter(({ event }) => !event.type.startsWith('webhook.')),
    answer(next = () => 204) {
      decide = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
