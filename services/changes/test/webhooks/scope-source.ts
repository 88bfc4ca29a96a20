// A stand-in for accounts that answers which scopes callers have at present.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScopeSource {
  readonly url: string;
  /** Whether it answers 503. */
  isDown: boolean;
  grant(callerId: string, scopes: readonly string[]): void;
  /** Resolves when no answer of before is used any more. */
  untilOld(): Promise<void>;
  close(): Promise<void>;
}

/** The sender uses an answer for 2 s. */
const validFor = 2_500;

export async function startScopeSource(): Promise<ScopeSource> {
  const granted = new Map<string, readonly string[]>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (source.isDown) {
      response.writeHead(503).end();
      return;
    }
    const { callerIds } = JSON.parse(Buffer.concat(chunks).toString()) as { callerIds: string[] };
    const callers = callerIds.map((id) => ({ id, scopes: granted.get(id) ?? [] }));
    response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ callers }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const source: ScopeSource = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    isDown: false,
    grant(id, scopes) {
      granted.set(id, scopes);
    },
    untilOld: () => new Promise((resolve) => setTimeout(resolve, validFor)),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return source;
}
