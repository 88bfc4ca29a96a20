// A server that replaces a service in the tests of its consumers. It returns the recorded responses.
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServiceTokens } from '../../auth/index.ts';
import { loadContract } from '../../contract/index.ts';
import type { ServiceName } from '../../shop/index.ts';
import { findOperation } from '../client.ts';
import { serviceFolder } from '../database.ts';
import { testSecret } from '../services.ts';
import { differences, fillIn } from './placeholders.ts';
import { type RecordedCall, recordedCalls } from './recordings.ts';

export interface RecordedService {
  readonly url: string;
  /**
   * Sets the states for the next calls, one after the other. The last state stays. Before the first state no call is
   * expected.
   */
  given(...states: string[]): void;
  /** Returns the calls that differ from the recordings, and the recordings without a call; empty when they agree. */
  deviations(): string[];
  close(): Promise<void>;
}

/**
 * Starts a server that returns recorded responses to the calls of a consumer, on a free loopback port. Each call must
 * have the credentials that the service's contract requires. A call that differs from the recordings gets 500. The
 * server is always ready.
 * @param texts the values of placeholders that occur in responses only
 */
export async function startRecordedService(
  consumer: string,
  provider: ServiceName,
  texts: Readonly<Record<string, string>> = {},
): Promise<RecordedService> {
  const recorded = recordedCalls({ consumer, provider });
  const contract = loadContract(`${serviceFolder(provider)}/openapi.yaml`);
  const serviceTokens = createServiceTokens({ secrets: [testSecret], name: provider });
  const unused = new Set(recorded);
  const refused: string[] = [];
  let states: readonly string[] = [];

  const refusalOf = (
    method: string,
    path: string,
    text: string,
    { authorization, 'content-type': type }: IncomingHttpHeaders,
  ): string | undefined => {
    const { access } = findOperation([contract], method, path)?.security ?? {};
    if (access === undefined) return 'is not an operation of the contract';
    if (text !== '' && (type !== 'application/json' || !isJson(text))) return 'has a body that is not JSON';
    if (access === 'required' && authorization === undefined) return 'has no credentials';
    if (access !== 'service') return undefined;
    try {
      serviceTokens.verify(authorization, provider, { method, path, body: text });
      return undefined;
    } catch {
      return 'is not signed';
    }
  };

  const answerTo = (method: string, path: string, text: string): [call: RecordedCall, response: unknown] | string => {
    const body: unknown = text === '' ? undefined : JSON.parse(text);
    const [state, ...later] = states;
    if (later.length > 0) states = later;
    const found = recorded
      .filter(({ given }) => given === state)
      .map((call) => {
        const values = new Map(Object.entries(texts));
        const wanted = { method: call.method, path: call.path, body: call.body };
        const deviations = differences(wanted, { method, path, body }, values, 'whole');
        return { call, values, deviations };
      })
      .sort((a, b) => a.deviations.length - b.deviations.length);
    const [closest] = found;
    if (closest === undefined) return `is not recorded given ${JSON.stringify(state)}`;
    const { call, values, deviations } = closest;
    return deviations.length === 0 ? [call, fillIn(call.response, values)] : deviations.join(', ');
  };

  const server = createServer((request, response) => {
    if (request.url === '/health/ready') {
      response.end('{}');
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const text = Buffer.concat(chunks).toString();
      const answer = refusalOf(method, path, text, headers) ?? answerTo(method, path, text);
      if (typeof answer === 'string') {
        refused.push(`${method} ${path} ${answer}`);
        response.writeHead(500).end('{}');
        return;
      }
      const [call, body] = answer;
      unused.delete(call);
      const type = call.status < 400 ? 'application/json' : 'application/problem+json';
      response.writeHead(call.status, body === undefined ? {} : { 'Content-Type': type });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    given(...next) {
      states = next;
    },
    deviations: () => [
      ...refused,
      ...[...unused].map(({ method, path, given }) => `${method} ${path} given ${JSON.stringify(given)} was not sent`),
    ],
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
