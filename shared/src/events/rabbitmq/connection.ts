// One connection to RabbitMQ. After a loss it reconnects with back-off and jitter, and sets up its channel again.
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { type Channel, type ChannelModel, connect, type Options, type RecoveringChannelModel } from 'amqplib';
import { type Log, StartError } from '../../runtime/index.ts';
import { BrokerUnavailableError, usualConnectTimeout } from '../transport.ts';

export interface ConnectionOptions<C extends Channel> {
  /** The URL of each node. After a failure, the next one is tried. */
  readonly addresses: readonly string[];
  readonly name: string;
  readonly log: Log;
  /** Prepares the channel after every connect. `drop` closes this connection and opens a new one. */
  readonly setUp: (model: ChannelModel, drop: (reason: string) => void) => Promise<C>;
  /** See TransportOptions. */
  readonly connectTimeout?: number;
  readonly refused?: (error: StartError) => void;
}

const heartbeatSeconds = 5;
const connectWithin = 5_000;
const closeWithin = 1_000;

// Reply codes of errors that retrying cannot fix: 403 access refused, 406 precondition failed (exists with other
// arguments), 530 not allowed (no such vhost).
const refusals = new Set([403, 406, 530]);

/**
 * Resolves when the connection is open, or after `connectTimeout`. It continues to try in both cases.
 * @throws StartError when the broker rejects credentials, the vhost or the topology within that time
 */
export async function openConnection<C extends Channel>(options: ConnectionOptions<C>): Promise<Connection<C>> {
  const connection = new Connection(options);
  await connection.open();
  return connection;
}

export class Connection<C extends Channel> {
  readonly #options: ConnectionOptions<C>;
  #recovering: RecoveringChannelModel | undefined;
  #current: { readonly model: ChannelModel; readonly channel: C } | undefined;
  #hasBeenOpen = false;
  #closing = false;
  #failure = 'not connected yet';
  #alarm: string | undefined;

  constructor(options: ConnectionOptions<C>) {
    this.#options = options;
  }

  /**
   * Returns the open channel.
   * @throws BrokerUnavailableError while there is none
   */
  channel(): C {
    return this.#open().channel;
  }

  /**
   * Returns the connection, for further channels.
   * @throws BrokerUnavailableError while it is not open
   */
  model(): ChannelModel {
    return this.#open().model;
  }

  /** Returns the reason why the broker accepts no messages at present (a resource alarm), or undefined. */
  blocked(): string | undefined {
    return this.#alarm;
  }

  /** Closes this connection and opens a new one, for a broker that does not respond. */
  drop(reason: string): void {
    if (this.#current !== undefined) this.#drop(this.#current.model, reason);
  }

  async close(): Promise<void> {
    this.#closing = true;
    const last = this.#current;
    // The channel is closed first, because its last acknowledgements must reach the queue before the connection ends.
    const closed = (async () => {
      await last?.channel.close().catch(() => {});
      await this.#recovering?.close();
    })();
    const late = new Promise<'late'>((resolve) => setTimeout(resolve, closeWithin, 'late').unref());
    if ((await Promise.race([closed, late])) === 'late' && last !== undefined) {
      destroy(last.model, 'not closed in time');
      await this.#recovering?.close();
    }
  }

  /** See `openConnection`. */
  async open(): Promise<void> {
    const { addresses, name, log } = this.#options;
    // Each connection begins at another node, so that the connections of all processes are spread over the nodes.
    let node = Math.floor(Math.random() * addresses.length);
    const here = (): Options.Connect => toOptions(addresses[node] ?? '');
    // amqplib reads this object at each attempt.
    const target = here();
    const turn = (): void => {
      node = (node + 1) % addresses.length;
      Object.assign(target, here());
    };
    const recovering = await connect(target, {
      noDelay: true,
      keepAlive: true,
      timeout: connectWithin,
      clientProperties: { connection_name: name },
      recovery: {
        initialDelay: 100,
        maxDelay: 3_000,
        factor: 2,
        jitter: 0.5,
        setup: (model: ChannelModel) => this.#setUp(model),
        waitForConnect: false,
      },
    });
    this.#recovering = recovering;
    recovering.on('error', () => {});
    recovering.on('connect-failed', turn);
    recovering.on('disconnect', turn);
    recovering.on('connect', () => log.info({ connection: name }, 'connected to RabbitMQ'));
    recovering.on('disconnect', (error) =>
      log.warn({ connection: name, reason: error?.message }, 'the connection to RabbitMQ was lost'),
    );
    try {
      await this.#firstConnect(recovering);
    } catch (error) {
      await recovering.close();
      throw error;
    }
  }

  /**
   * Resolves at the first connection, or after `connectTimeout`. Rejects when the broker rejects the connection before
   * that.
   */
  #firstConnect(recovering: RecoveringChannelModel): Promise<void> {
    const { name, log, connectTimeout = usualConnectTimeout, refused } = this.#options;
    return new Promise((resolve, reject) => {
      let waiting = true;
      const timer = setTimeout(() => {
        waiting = false;
        resolve();
      }, connectTimeout);
      recovering.on('connect-failed', (error: Error & { code?: unknown }) => {
        this.#failure = error.message;
        log.warn({ connection: name, reason: error.message }, 'no connection to RabbitMQ');
        if (this.#hasBeenOpen || !isRefusal(error)) return;
        clearTimeout(timer);
        const refusal = new StartError(`RabbitMQ refuses: ${explained(error.message)}`);
        if (waiting) reject(refusal);
        else refused?.(refusal);
      });
      recovering.once('connect', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #setUp(model: ChannelModel): Promise<void> {
    const { log, setUp } = this.#options;
    model.on('error', (error) => this.#lose(model, error.message));
    let ended: string | undefined;
    model.on('close', () => {
      ended = 'connection closed';
      this.#lose(model, ended);
    });
    model.on('blocked', (reason) => {
      this.#alarm = reason;
      log.warn({ reason }, 'RabbitMQ blocks publishing');
    });
    model.on('unblocked', () => {
      this.#alarm = undefined;
      log.info('RabbitMQ accepts messages again');
    });
    const channel = await setUp(model, (reason) => this.#drop(model, reason));
    // A lost channel is handled as a lost connection, so that there is only one way to recover.
    channel.on('error', (error) => this.#drop(model, error.message));
    channel.on('close', () => {
      ended = 'channel closed';
      this.#drop(model, ended);
    });
    // The connection may close together with the last response of the set-up. Then amqplib reports the end before this
    // code waits for it, and would not reconnect.
    await setImmediate();
    if (ended !== undefined) throw new Error(ended);
    this.#current = { model, channel };
    this.#hasBeenOpen = true;
  }

  #open(): { readonly model: ChannelModel; readonly channel: C } {
    if (this.#current === undefined) throw new BrokerUnavailableError(`RabbitMQ is unavailable: ${this.#failure}`);
    return this.#current;
  }

  #drop(model: ChannelModel, reason: string): void {
    if (this.#closing) return;
    this.#lose(model, reason);
    destroy(model, reason);
  }

  #lose(model: ChannelModel, reason: string): void {
    if (this.#current?.model !== model) return;
    this.#current = undefined;
    this.#alarm = undefined;
    this.#failure = reason;
  }
}

/** Destroys the socket, because a regular close would wait for a response, which a hanging broker never sends. */
function destroy(model: ChannelModel, reason: string): void {
  const { stream } = model.connection as unknown as { readonly stream: Socket };
  stream.destroy(new Error(reason));
}

/** Returns the parts of an AMQP URL as amqplib names them, with its query parameters. */
function toOptions(address: string): Options.Connect {
  const { protocol, hostname, port, username, password, pathname, searchParams } = new URL(address);
  const credentials =
    username === '' && password === '' ? { username: 'guest', password: 'guest' } : { username, password };
  return {
    heartbeat: heartbeatSeconds,
    ...Object.fromEntries(searchParams),
    protocol: protocol.slice(0, -1),
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || (protocol === 'amqps:' ? 5671 : 5672)),
    username: decodeURIComponent(credentials.username),
    password: decodeURIComponent(credentials.password),
    vhost: pathname.slice(1),
  };
}

function isRefusal({ code, message }: Error & { code?: unknown }): boolean {
  return refusals.has(Number(code)) || /ACCESS.REFUSED|NOT_ALLOWED/i.test(message);
}

function explained(message: string): string {
  return message.includes('PRECONDITION')
    ? `${message}. A queue or exchange of this name exists with other arguments: delete it, ` +
        'or choose another namespace in EVENTS_URL'
    : message;
}
