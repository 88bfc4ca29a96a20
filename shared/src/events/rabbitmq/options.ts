// The settings of a connection to RabbitMQ.
import type { TransportOptions } from '../transport.ts';

export interface RabbitmqOptions extends Omit<TransportOptions, 'url'> {
  /** The URL of each node of the broker. */
  readonly addresses: readonly string[];
  /** The prefix of the exchange's and the queues' names. */
  readonly namespace: string;
  /**
   * `all`: this process declares the queues of every consumer. `own`: it declares only the queues that it consumes
   * from, because its user may declare no others; the broker's definitions contain them.
   */
  readonly declares: 'all' | 'own';
}
