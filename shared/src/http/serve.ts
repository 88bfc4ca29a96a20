// Listens, and stops without losing a request: reports that it is not ready, accepts no new connections, finishes the
// running requests, and closes idle connections.
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { closeServer, type Health, type ProcessLife, StartError } from '../runtime/index.ts';
import { answerParserErrors } from './client-errors.ts';

export interface ServeOptions {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /**
   * Milliseconds between the signal and the closing of the port. The time is longer than the idle time of the clients'
   * connections (4 s), so that no request is lost.
   */
  readonly drain: number;
  readonly health: Health;
  readonly life: ProcessLife;
  /** Ends the responses that would last until their clients leave. Called when the process stops. */
  readonly endStreams?: (() => Promise<void>) | undefined;
}

/**
 * The maximum bytes of the header section: the largest target and header section that a gateway can be configured to
 * accept, and the fields that it adds.
 */
const maxHeaderSize = 2 * 65_536 + 8_192;

/**
 * Milliseconds from the signal to the end of the last running request. The time is longer than the longest `drain`. It
 * leaves 1.75 s of the 10 s of a process for the parts that stop afterwards, such as the sender of e-mails.
 */
const stopWithin = 8_250;
/** Milliseconds after `drain` in which clients read the rest of their streams. Some clients do not read. */
const readWithin = 3_000;

/**
 * Serves the application until the process stops. Then, for `drain` milliseconds, it reports that it is not ready and
 * closes each connection after its response, before it closes the port. Running requests finish, unless they take longer than
 * the process may.
 * @returns the port that it listens on
 * @throws StartError when the port is taken or not allowed
 */
export async function serve(app: RequestListener, options: ServeOptions): Promise<number> {
  const { host, port, drain, health, life, endStreams } = options;
  // The service closes idle connections later than a gateway does, so that the service never closes one first.
  const times = { keepAliveTimeout: 65_000, requestTimeout: 30_000, headersTimeout: 10_000 };
  const server = createServer({ ...times, maxHeaderSize }, app);
  answerParserErrors(server);
  await listen(server, host, port);
  life.onStop('HTTP server', async () => {
    health.drain();
    const within = endStreams === undefined ? stopWithin : Math.min(drain + readWithin, stopWithin);
    await Promise.all([endStreams?.(), closeServer(server, { drain, within })]);
  });
  const address = server.address() as AddressInfo;
  life.log.info({ host, port: address.port }, 'listening');
  return address.port;
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new StartError(
          `cannot listen on ${host}:${port} (${error.code === 'EADDRINUSE' ? 'the port is taken' : error.code})`,
        ),
      );
    });
    server.listen(port, host, resolve);
  });
}
