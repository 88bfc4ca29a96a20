// Reads one HTTP/1.1 response (RFC 9112), and refuses everything that the grammar does not allow.
import { gunzipSync } from 'node:zlib';

const longestHead = 64 * 1_024;
const firstLine = /^HTTP\/1\.1 ([1-5]\d\d) [\t\x20-\x7e\x80-\xff]*$/;
const field = /^([!#$%&'*+.^_`|~\w-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*?)[\t ]*$/;

export interface ReceivedAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

interface Head {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export class Incoming {
  readonly #method: string;
  #bytes: Buffer = Buffer.alloc(0);
  #head: Head | undefined;
  /** The chunks that were read so far. */
  readonly #chunks: Buffer[] = [];

  /** @param method of the request, because a response to HEAD has no body */
  constructor(method: string) {
    this.#method = method;
  }

  /**
   * @returns the response when it is complete
   * @throws when it is not well-formed, or when bytes follow it
   */
  take(data: Buffer): ReceivedAnswer | undefined {
    this.#bytes = this.#bytes.length === 0 ? data : Buffer.concat([this.#bytes, data]);
    this.#head ??= this.#readHead();
    if (this.#head === undefined) return undefined;
    if (isEventStream(this.#head) && this.#method !== 'HEAD') return this.#firstEvents(this.#head);
    const body = this.#readBody(this.#head);
    if (body === undefined) return undefined;
    if (this.#bytes.length > 0)
      throw new Error(`${this.#bytes.length} bytes follow the response: ${this.#bytes.toString('latin1', 0, 200)}`);
    return { ...this.#head, text: textOf(this.#head, body) };
  }

  /**
   * @returns the response that the end of the connection completes; undefined when nothing was received
   * @throws when the response is incomplete
   */
  end(): ReceivedAnswer | undefined {
    if (this.#head === undefined && this.#bytes.length === 0) return undefined;
    if (this.#head === undefined || isFramed(this.#head)) throw new Error('the connection ended within a response');
    return { ...this.#head, text: textOf(this.#head, this.#bytes) };
  }

  /** Reads the head, and skips interim responses. */
  #readHead(): Head | undefined {
    for (;;) {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end === -1 && this.#bytes.length > longestHead) throw new Error('the head of the response is too long');
      if (end === -1) return undefined;
      const head = headOf(this.#bytes.toString('latin1', 0, end));
      this.#bytes = this.#bytes.subarray(end + 4);
      if (head.status >= 200) return head;
      if (head.status === 101) throw new Error('the server switched protocols');
    }
  }

  #readBody(head: Head): Buffer | undefined {
    if (this.#method === 'HEAD' || head.status === 204 || head.status === 304) return Buffer.alloc(0);
    const { 'content-length': length } = head.headers;
    if (length !== undefined) return this.#cut(Number(length));
    return isFramed(head) ? this.#readChunks() : undefined;
  }

  /** A stream of events has no end, so its first chunk counts as the response. Its connection cannot be used again. */
  #firstEvents({ status, headers }: Head): ReceivedAnswer | undefined {
    this.#readChunks();
    if (this.#chunks.length === 0) return undefined;
    return { status, headers: { ...headers, connection: 'close' }, text: Buffer.concat(this.#chunks).toString('utf8') };
  }

  /** The next bytes; undefined when fewer were received. */
  #cut(length: number): Buffer | undefined {
    if (this.#bytes.length < length) return undefined;
    const part = this.#bytes.subarray(0, length);
    this.#bytes = this.#bytes.subarray(length);
    return part;
  }

  #readChunks(): Buffer | undefined {
    for (;;) {
      const end = this.#bytes.indexOf('\r\n');
      if (end === -1) return undefined;
      const size = this.#bytes.toString('latin1', 0, end);
      if (!/^[\da-f]{1,8}$/i.test(size)) throw new Error(`not the size of a chunk: ${size.slice(0, 200)}`);
      const length = Number.parseInt(size, 16);
      if (this.#bytes.length < end + 2 + length + 2) return undefined;
      this.#cut(end + 2);
      const chunk = this.#cut(length);
      if (this.#cut(2)?.toString('latin1') !== '\r\n') throw new Error('a chunk has no end, or the body has trailers');
      if (chunk === undefined || length === 0) return Buffer.concat(this.#chunks);
      this.#chunks.push(chunk);
    }
  }
}

/** @throws when the body is not coded as its head says */
function textOf({ headers: { 'content-encoding': coding } }: Head, body: Buffer): string {
  // The response to HEAD has the fields of the body that it lacks.
  if (coding === undefined || body.length === 0) return body.toString('utf8');
  if (coding !== 'gzip') throw new Error(`Content-Encoding: ${coding}`);
  return gunzipSync(body).toString('utf8');
}

/** @throws when a line is not well-formed, or when the fields contradict each other */
function headOf(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const status = firstLine.exec(first)?.[1];
  if (status === undefined) throw new Error(`not the first line of a response: ${first.slice(0, 200)}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const [, name = '', value = ''] = field.exec(line) ?? [];
    if (name === '') throw new Error(`not a header field: ${line.slice(0, 200)}`);
    const key = name.toLowerCase();
    const known = headers[key];
    headers[key] = known === undefined ? value : `${known}, ${value}`;
  }
  const { 'content-length': length, 'transfer-encoding': coding } = headers;
  if (length !== undefined && coding !== undefined) throw new Error('Content-Length beside Transfer-Encoding');
  if (length !== undefined && !/^\d{1,10}$/.test(length)) throw new Error(`Content-Length: ${length}`);
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') throw new Error(`Transfer-Encoding: ${coding}`);
  return { status: Number(status), headers };
}

const isEventStream = ({ headers }: Head): boolean => headers['content-type'] === 'text/event-stream';

/** Whether the response ends before the connection does. */
const isFramed = ({ headers }: Head): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
