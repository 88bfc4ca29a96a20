// What RabbitMQ and pg-boss implement for listeners.
import { StartError } from '../runtime/index.ts';

export interface Listener {
  readonly name: string;
  readonly types: readonly string[];
  /** The events that wait in its queue. */
  readonly backlog: number;
}

export interface ListenerAccess {
  /** The queue of RabbitMQ, or the view in PostgreSQL, from which it consumes. */
  readonly queue: string;
  readonly user: string;
}

export interface ListenerStore {
  /** @throws StartError when there is a listener of this name */
  add(name: string, types: readonly string[], password: string): Promise<ListenerAccess>;
  list(): Promise<readonly Listener[]>;
  /** Resolves to false when there is no such listener. */
  remove(name: string): Promise<boolean>;
}

export const listenerExists = (name: string): StartError =>
  new StartError(`there is a listener ${name} already: remove it first, or choose another name`);
