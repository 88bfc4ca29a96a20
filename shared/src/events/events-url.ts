// EVENTS_URL: the address of the broker, or the addresses of its nodes.
import { url, urlOfHosts, type Variable } from '../runtime/index.ts';

/** Defines the variable EVENTS_URL. Only the nodes of RabbitMQ can be listed. */
export function eventsUrl(): Variable<string> {
  const nodes = urlOfHosts('EVENTS_URL', ['amqp', 'amqps']);
  const address = url('EVENTS_URL', ['amqp', 'amqps', 'postgres', 'postgresql']);
  return { ...address, parse: (text) => (/^amqps?:/.test(text) ? nodes : address).parse(text) };
}
