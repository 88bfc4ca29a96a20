// Sends raw bytes to a port and parses the responses.
import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  /** The header fields by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface RawExchange {
  /** All received bytes, one character per byte. */
  readonly text: string;
  readonly answers: readonly RawAnswer[];
  /** Whether the server ended the connection. */
  readonly closed: boolean;
}

/**
 * Writes the bytes and reads until the server ends the connection, or sends nothing for `silence` milliseconds.
 * @param text one character per byte
 */
export function sendRaw(port: number, text: string, silence = 1_000): Promise<RawExchange> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    let closed = false;
    socket.setTimeout(silence, () => {
      // After a pause of this process, its timers run before it reads what has arrived.
      const { bytesRead } = socket;
      setImmediate(() => {
        if (socket.bytesRead === bytesRead) socket.destroy();
      });
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      closed = true;
    });
    socket.on('error', () => {
      closed = true;
    });
    socket.on('close', () => {
      const received = Buffer.concat(chunks).toString('latin1');
      resolve({ text: received, answers: readAnswers(received), closed });
    });
    socket.write(text, 'latin1');
  });
}

/** Splits a stream of responses, without interim ones (1xx). */
function readAnswers(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let rest = text;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
    if (end < 0 || Number.isNaN(status)) throw new Error(`no HTTP answer: ${JSON.stringify(rest.slice(0, 200))}`);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const body = rest.slice(end + 4, end + 4 + Number(headers['content-length'] ?? 0));
    if (status >= 200) answers.push({ status, headers, body });
    rest = rest.slice(end + 4 + body.length);
  }
  return answers;
}
