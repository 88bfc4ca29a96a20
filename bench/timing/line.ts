// One open connection that sends one request after the other, and measures the time to the complete response.
import { once } from 'node:events';
import { connect } from 'node:net';

export interface Timed {
  readonly status: number;
  /** Milliseconds from the first byte sent to the last byte received. */
  readonly milliseconds: number;
}

export interface Line {
  /** @param text request line, headers, body. @throws when the connection ends */
  ask(text: string): Promise<Timed>;
  close(): void;
}

export async function openLine(port: number): Promise<Line> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  await once(socket, 'connect');
  let bytes = '';
  let arrived: (status: number | Error) => void = () => {};
  socket.on('data', (data) => {
    bytes += data.toString('latin1');
    const head = bytes.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(bytes.slice(0, head))?.[1] ?? 0);
    if (bytes.length >= head + 4 + length) arrived(Number(bytes.slice(9, 12)));
  });
  socket.on('error', (error) => arrived(error));
  socket.on('close', () => arrived(new Error('the connection ended')));
  return {
    async ask(text) {
      bytes = '';
      const answer = new Promise<number | Error>((resolve) => {
        arrived = resolve;
      });
      const began = performance.now();
      socket.write(text);
      const status = await answer;
      const milliseconds = performance.now() - began;
      if (status instanceof Error) throw status;
      return { status, milliseconds };
    },
    close: () => void socket.destroy(),
  };
}
