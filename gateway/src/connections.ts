// Which connections are open, how many one client may hold, and which idle one is closed so that a new one gets in.
import type { Socket } from 'node:net';
import type { Log } from '@shop/shared/runtime';
import { clientNetwork } from '../plugin/entry/client-network.ts';
import { LinkedQueue, QueueEntry } from './linked-queue.ts';

export interface ConnectionLimits {
  /**
   * Open connections. An idle one holds about 16 KB: 10,000 of them, the bodies that are held and the process itself stay below
   * the 384 MiB that its container has.
   */
  readonly maximumConnections: number;
  /** Those of one client network. Not applied behind trusted proxies, where the address of a socket is that of a proxy. */
  readonly maximumPerAddress: number;
  readonly trustedProxies: number;
}

/** Connections beyond the maximum that are opened when none is idle, for probes of health. */
const spare = 100;
/** Milliseconds after which the HTTP server has refused a request whose header section is not complete. */
const arrival = 11_000;
const tellEvery = 60_000;

interface Network {
  readonly name: string;
  open: number;
  readonly idle: LinkedQueue<Connection>;
}

class Connection {
  readonly socket: Socket;
  readonly network: Network;
  readonly place = new QueueEntry<Connection>(this);
  readonly placeInNetwork = new QueueEntry<Connection>(this);
  /** A request is being answered, or received after its header section. */
  busy = false;
  /** Opened beyond the maximum. */
  spare = false;
  /** Bytes that had arrived when it became idle: more of them are the next request. */
  bytesRead = 0;

  constructor(socket: Socket, network: Network) {
    this.socket = socket;
    this.network = network;
  }
}

/**
 * The open connections of a server. When all of a network, or all of the server, are open, a new one takes the place of the one
 * that has been idle longest (RFC 9112 section 9.5). Each call takes constant time.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #log: Log;
  readonly #open = new Map<Socket, Connection>();
  readonly #networks = new Map<string, Network>();
  readonly #idle = new LinkedQueue<Connection>();
  readonly #spare = new LinkedQueue<Connection>();
  readonly #told = new Map<string, number>();
  /** One listener for all connections: thousands of them are open. */
  readonly #closed: (this: Socket) => void;
  #spares = 0;

  constructor(limits: ConnectionLimits, log: Log) {
    this.#limits = limits;
    this.#log = log;
    const forget = (socket: Socket): void => this.#forget(socket);
    this.#closed = function (this: Socket) {
      forget(this);
    };
  }

  /** The sockets of all open connections. */
  get sockets(): Iterable<Socket> {
    return this.#open.keys();
  }

  /** Takes a new connection, after closing an idle one where there is no room. Closes the new one when none is idle. */
  open(socket: Socket): void {
    const name = clientNetwork(socket.remoteAddress ?? '');
    const network = this.#networks.get(name) ?? { name, open: 0, idle: new LinkedQueue<Connection>() };
    const connection = new Connection(socket, network);
    if (!this.#makeRoomInNetwork(network) || !this.#makeRoom(connection)) {
      socket.destroy();
      return;
    }
    // Closing the last connection of this network has removed the network.
    this.#networks.set(name, network);
    network.open += 1;
    this.#open.set(socket, connection);
    this.#rest(connection);
    socket.on('close', this.#closed);
  }

  /**
   * A request has arrived on an idle connection.
   * @returns spare: the connection was opened beyond the maximum, and may only ask for the state of health
   */
  begin(socket: Socket): 'regular' | 'spare' {
    const connection = this.#open.get(socket);
    if (connection === undefined) return 'regular';
    connection.busy = true;
    this.#leaveQueues(connection);
    return connection.spare ? 'spare' : 'regular';
  }

  /** All requests that have arrived on a connection are answered. */
  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.busy = false;
    this.#rest(connection);
  }

  #rest(connection: Connection): void {
    connection.bytesRead = connection.socket.bytesRead;
    if (connection.spare) {
      this.#spare.join(connection.place);
      return;
    }
    this.#idle.join(connection.place);
    connection.network.idle.join(connection.placeInNetwork);
  }

  #leaveQueues(connection: Connection): void {
    (connection.spare ? this.#spare : this.#idle).leave(connection.place);
    connection.network.idle.leave(connection.placeInNetwork);
  }

  #closeLongestIdle(queue: LinkedQueue<Connection>): boolean {
    for (let connection = queue.first; connection !== undefined; connection = queue.first) {
      if (connection.socket.bytesRead === connection.bytesRead) {
        this.#close(connection);
        return true;
      }
      this.#receive(connection);
    }
    return false;
  }

  /** Its next request is arriving. When it is no request, such as an empty line, the connection is idle again after a while. */
  #receive(connection: Connection): void {
    this.#leaveQueues(connection);
    const rest = (): void => {
      const left = !this.#open.has(connection.socket);
      if (!left && !connection.busy && !connection.place.queued) this.#rest(connection);
    };
    setTimeout(rest, arrival).unref();
  }

  #makeRoomInNetwork({ name, open, idle }: Network): boolean {
    const { maximumPerAddress, trustedProxies } = this.#limits;
    if (trustedProxies > 0 || open < maximumPerAddress) return true;
    const room = this.#closeLongestIdle(idle);
    const what = room ? 'an idle connection gives way to a new one' : 'a new connection is closed';
    this.#tell(`${what}: its address has too many`, { address: name, open });
    return room;
  }

  #makeRoom(connection: Connection): boolean {
    const open = this.#open.size;
    if (open < this.#limits.maximumConnections) return true;
    connection.spare = !this.#closeLongestIdle(this.#idle);
    const what = connection.spare
      ? 'a new connection may only ask for health'
      : 'an idle connection gives way to a new one';
    this.#tell(`${what}: too many connections are open`, { open });
    return !connection.spare || this.#makeSpare();
  }

  /** Makes room for one more connection beyond the maximum: the probes ask as soon as they are connected, the others wait. */
  #makeSpare(): boolean {
    const { first } = this.#spare;
    if (this.#spares >= spare && first !== undefined) this.#close(first);
    if (this.#spares >= spare) return false;
    this.#spares += 1;
    return true;
  }

  #close(connection: Connection): void {
    connection.socket.destroy();
    this.#forget(connection.socket);
  }

  #forget(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    this.#open.delete(socket);
    this.#leaveQueues(connection);
    if (connection.spare) this.#spares -= 1;
    const { network } = connection;
    network.open -= 1;
    if (network.open === 0) this.#networks.delete(network.name);
  }

  /** Logs each text once a minute. */
  #tell(text: string, details: object): void {
    const now = performance.now();
    if (now - (this.#told.get(text) ?? Number.NEGATIVE_INFINITY) < tellEvery) return;
    this.#told.set(text, now);
    this.#log.warn(details, text);
  }
}
