// Sends a request as it is, also with methods and header fields that fetch refuses.
import { Agent, type IncomingMessage, request } from 'node:http';

export interface SentRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** Whether the body has no Content-Length. */
  readonly chunked: boolean;
}

export interface ReceivedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });
const longest = 90_000;

/** @throws when the connection ends without a response. A connection that the server has just closed is replaced. */
export async function send(url: string, sent: SentRequest): Promise<ReceivedAnswer> {
  try {
    return await sendOnce(url, sent);
  } catch (error) {
    if (error instanceof Closed) return sendOnce(url, sent);
    throw error;
  }
}

/** A kept connection was closed before the request could use it. */
class Closed extends Error {}

function sendOnce(url: string, { method, target, headers, body, chunked }: SentRequest): Promise<ReceivedAnswer> {
  const { hostname, port } = new URL(url);
  const framing = framingOf(body, chunked);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { agent, hostname, port, method, path: target, headers: { ...framing, ...headers }, timeout: longest },
      (answer) => receive(answer).then(resolve, reject),
    );
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no response within ${longest} ms`)));
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      reject(outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? new Closed() : error),
    );
    if (chunked && body !== undefined) {
      outgoing.write(body.subarray(0, 1));
      outgoing.end(body.subarray(1));
    } else outgoing.end(body);
  });
}

/** Node frames no body of a GET by itself. Its bytes would then be read as the next request of the connection. */
function framingOf(body: Buffer | undefined, chunked: boolean): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  return chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(body.length) };
}

async function receive(answer: IncomingMessage): Promise<ReceivedAnswer> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  const headers = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as const);
  return {
    status: answer.statusCode ?? 0,
    headers: Object.fromEntries(headers),
    text: Buffer.concat(parts).toString('utf8'),
  };
}
