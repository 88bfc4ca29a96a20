// Sends a request as it is, also with methods and header fields that fetch refuses. It costs a fraction of the
// processor time of node:http, and refuses responses that are not well-formed.
import type { ReceivedAnswer } from './answer.ts';
import { Connection } from './connection.ts';

export interface SentRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** Whether the body has no Content-Length. */
  readonly chunked: boolean;
}

/** Milliseconds after which an idle connection is not used again. The server may close it soon, without notice. */
const longestIdle = 2_000;
const longest = 90_000;

/** Server → its idle connections, the one used last at the end. */
const kept = new Map<string, Connection[]>();

/**
 * @param within milliseconds
 * @throws when there is no response in time, or when it is incomplete or not well-formed
 */
export async function send(url: string, sent: SentRequest, within = longest): Promise<ReceivedAnswer> {
  const idle = kept.get(url) ?? [];
  kept.set(url, idle);
  const connection = lastOf(idle) ?? new Connection(url);
  const answer = await connection.exchange(sent.method, bytesOf(url, sent), within);
  if (answer.headers.connection?.toLowerCase() === 'close') connection.close();
  else idle.push(connection);
  return answer;
}

/** Takes the connection that was used last. All are closed when it is too old. */
function lastOf(idle: Connection[]): Connection | undefined {
  const last = idle.pop();
  if (last === undefined || last.idle() < longestIdle) return last;
  for (const each of [last, ...idle.splice(0)]) each.close();
  return undefined;
}

function bytesOf(url: string, { method, target, headers, body, chunked }: SentRequest): Buffer {
  const fields = Object.entries({ Host: url.slice('http://'.length), ...framingOf(body, chunked), ...headers });
  const lines = [`${method} ${target} HTTP/1.1`, ...fields.map(([name, value]) => `${name}: ${value}`)];
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (body === undefined) return head;
  return Buffer.concat([head, ...(chunked ? chunksOf(body) : [body])]);
}

/** Without it, the bytes of the body would be read as the next request of the connection. */
function framingOf(body: Buffer | undefined, chunked: boolean): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  return chunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(body.length) };
}

/** The body as two chunks, the first one of one byte. */
function chunksOf(body: Buffer): Buffer[] {
  const chunks = [body.subarray(0, 1), body.subarray(1)].filter(({ length }) => length > 0);
  const framed = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return [...framed, Buffer.from('0\r\n\r\n')];
}
