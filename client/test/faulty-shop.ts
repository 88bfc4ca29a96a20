// A server for the tests of the client that sends the given responses one after the other.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Tokens } from '../src/index.ts';

export interface Seen {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * 'break' closes the connection without a response, 'cut' in the middle of the body, and 'silent' never answers. A body
 * is sent as JSON, a text unchanged.
 */
export type Reaction =
  | 'break'
  | 'cut'
  | 'silent'
  | { status: number; headers?: Record<string, string>; body?: unknown };

export interface FaultyShop {
  readonly url: string;
  readonly seen: readonly Seen[];
  close(): Promise<void>;
}

export function refused(status: number, code: string, headers: Record<string, string> = {}): Reaction {
  return {
    status,
    headers,
    body: { type: `/problems/${code}`, title: '', status, detail: code, instance: 'a-request', code },
  };
}

export function tokens(name: string, seconds = 900): Tokens {
  return {
    access_token: `access-${name}`,
    token_type: 'Bearer',
    expires_in: seconds,
    refresh_token: `refresh-${name}`,
  };
}

/** @param react decides about each request, immediately or later; the number counts requests from 1 */
export async function startFaultyShop(
  react: (seen: Seen, count: number) => Reaction | Promise<Reaction>,
): Promise<FaultyShop> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const taken = { line: `${request.method} ${request.url}`, headers: request.headers, body };
    seen.push(taken);
    const reaction = await react(taken, seen.length);
    if (reaction === 'break') {
      request.socket.destroy();
      return;
    }
    if (reaction === 'silent') return;
    if (reaction === 'cut') {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' });
      response.write('{', () => request.socket.destroy());
      return;
    }
    const type = reaction.status < 400 ? 'application/json' : 'application/problem+json';
    response.writeHead(reaction.status, { 'Content-Type': type, ...reaction.headers });
    response.end(typeof reaction.body === 'string' ? reaction.body : JSON.stringify(reaction.body ?? {}));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
