// Which events each queue holds, from the list of services.
import { type ServiceName, serviceNames, services } from '../runtime/index.ts';
import type { Handler } from './event.ts';

type Consumer = Extract<(typeof services)[ServiceName], { consumer: object }>['consumer'];

export type ConsumerName = Consumer['name'];

/** The consumer of a service; undefined when the service handles no events. */
export function consumerOf(service: ServiceName): Consumer | undefined {
  const found = services[service];
  return 'consumer' in found ? found.consumer : undefined;
}

/** Consumer → the types of the events that it handles. */
export const consumers = Object.fromEntries(
  serviceNames.flatMap((service) => consumerOf(service) ?? []).map(({ name, events }) => [name, events]),
) as { readonly [Each in Consumer as Each['name']]: Each['events'] };

/** One handler for each event type of the consumer, none missing and no other. */
export type HandlersOf<Name extends ConsumerName> = {
  readonly [Type in (typeof consumers)[Name][number]]: Handler<Type>;
};
