// One connection to RabbitMQ that comes back by itself, with back-off and jitter, and sets up its channel again each time.
import type { Socket } from 'node:net';
import { type Channel, type ChannelModel, connect } from 'amqplib';
import { type Log, StartError } from '../../runtime/index.ts';
import { BrokerUnavailableError, usualPatience } from '../transport.ts';

export interface LinkOptions<C extends Channel> {
  readonly url: string;
  readonly name: string;
  readonly log: Log;
  /** Opens and prepares the channel; run after every connect. `drop` gives that connection up and makes a new one. */
  readonly setUp: (model: ChannelModel, drop: (reason: string) => void) => Promise<C>;
  /** See TransportOptions. */
  readonly patience?: number;
  readonly refused?: (error: StartError) => void;
}

export interface Link<C extends Channel> {
  /** The open channel. Throws BrokerUnavailableError while there is none. */
  channel(): C;
  /** The connection, for channels beside that one. Throws BrokerUnavailableError while there is none. */
  model(): ChannelModel;
  /** Why the broker takes no more messages at the moment (an alarm of its own), or undefined. */
  blocked(): string | undefined;
  /** Gives this connection up, as for a broker that does not answer, and makes a new one. */
  drop(reason: string): void;
  close(): Promise<void>;
}

const heartbeatSeconds = 5;
const connectWithin = 5_000;
const closeWithin = 1_000;

// 403 access refused, 406 precondition failed (exists with other arguments), 530 not allowed (no such vhost): no waiting mends them.
const refusals = new Set([403, 406, 530]);

/**
 * Resolves when the connection stands, or when the patience is over, and goes on trying in both cases.
 * @throws StartError when the broker refuses credentials, the vhost or the topology within that time
 */
export async function openConnection<C extends Channel>(options: LinkOptions<C>): Promise<Link<C>> {
  const { log, patience = usualPatience } = options;
  let stoodOnce = false;
  let current: { model: ChannelModel; channel: C } | undefined;
  let away = 'not connected yet';
  let alarm: string | undefined;
  let closing = false;

  const lose = (model: ChannelModel, reason: string): void => {
    if (current?.model !== model) return;
    current = undefined;
    alarm = undefined;
    away = reason;
  };

  const setup = async (model: ChannelModel): Promise<void> => {
    model.on('error', (error) => lose(model, error.message));
    model.on('close', () => lose(model, 'connection closed'));
    model.on('blocked', (reason) => {
      alarm = reason;
      log.warn({ reason }, 'RabbitMQ blocks publishing');
    });
    model.on('unblocked', () => {
      alarm = undefined;
      log.info('RabbitMQ takes messages again');
    });
    const channel = await options.setUp(model, (reason) => drop(model, reason));
    // A lost channel is a lost connection: one way to recover instead of two.
    channel.on('error', (error) => drop(model, error.message));
    channel.on('close', () => drop(model, 'channel closed'));
    current = { model, channel };
    stoodOnce = true;
  };

  const drop = (model: ChannelModel, reason: string): void => {
    if (closing) return;
    lose(model, reason);
    destroy(model, reason);
  };

  const recovering = await connect(address(options.url), {
    noDelay: true,
    keepAlive: true,
    timeout: connectWithin,
    clientProperties: { connection_name: options.name },
    recovery: { initialDelay: 100, maxDelay: 3_000, factor: 2, jitter: 0.5, setup, waitForConnect: false },
  });
  recovering.on('error', () => {});
  recovering.on('connect', () => log.info({ link: options.name }, 'connected to RabbitMQ'));
  recovering.on('disconnect', (error) =>
    log.warn({ link: options.name, reason: error?.message }, 'the connection to RabbitMQ was lost'),
  );

  await new Promise<void>((resolve, reject) => {
    let waiting = true;
    const timer = setTimeout(() => {
      waiting = false;
      resolve();
    }, patience);
    recovering.on('connect-failed', (error: Error & { code?: unknown }) => {
      away = error.message;
      log.warn({ link: options.name, reason: error.message }, 'no connection to RabbitMQ');
      if (stoodOnce || (!refusals.has(Number(error.code)) && !/ACCESS.REFUSED|NOT_ALLOWED/i.test(error.message)))
        return;
      clearTimeout(timer);
      const refusal = new StartError(`RabbitMQ refuses: ${refusalOf(error.message)}`);
      if (waiting) reject(refusal);
      else options.refused?.(refusal);
    });
    recovering.once('connect', () => {
      clearTimeout(timer);
      resolve();
    });
  }).catch(async (error: unknown) => {
    await recovering.close();
    throw error;
  });

  const connected = () => {
    if (current === undefined) throw new BrokerUnavailableError(`RabbitMQ is away: ${away}`);
    return current;
  };
  return {
    channel: () => connected().channel,
    model: () => connected().model,
    blocked: () => alarm,
    drop(reason) {
      if (current !== undefined) drop(current.model, reason);
    },
    async close() {
      closing = true;
      const last = current;
      // The channel first: its last acknowledgements must have reached the queue before the connection ends.
      const closed = (async () => {
        await last?.channel.close().catch(() => {});
        await recovering.close();
      })();
      const late = new Promise<'late'>((resolve) => setTimeout(resolve, closeWithin, 'late').unref());
      if ((await Promise.race([closed, late])) === 'late' && last !== undefined) {
        destroy(last.model, 'not closed in time');
        await recovering.close();
      }
    },
  };
}

/** A polite close waits for the broker's answer, which a hung broker never gives: the socket goes at once. */
function destroy(model: ChannelModel, reason: string): void {
  const { stream } = model.connection as unknown as { readonly stream: Socket };
  stream.destroy(new Error(reason));
}

function address(text: string): string {
  const url = new URL(text);
  if (!url.searchParams.has('heartbeat')) url.searchParams.set('heartbeat', String(heartbeatSeconds));
  return url.toString();
}

function refusalOf(message: string): string {
  return message.includes('PRECONDITION')
    ? `${message}. A queue or exchange of this name exists with other arguments: delete it, or choose another namespace in EVENTS_URL`
    : message;
}
