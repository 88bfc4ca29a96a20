// The open connections: how many one client may hold, and which idle connection is closed for a new one.
import type { Socket } from 'node:net';
import type { Log } from '@shop/shared/runtime';
import { clientNetwork } from '@shop/shared/runtime';
import { LinkedQueue, QueueEntry } from './linked-queue.ts';

export interface ConnectionLimits {
  /**
   * The maximum number of open connections. An idle one takes about 16 KB: 10,000 of them, the buffered bodies and the
   * process itself stay below the 384 MiB of the container.
   */
  readonly maximumConnections: number;
  /**
   * The maximum number of open connections of one client network. It does not apply behind trusted proxies, because
   * every socket then has the address of a proxy.
   */
  readonly maximumPerAddress: number;
  readonly trustedProxies: number;
}

/** Connections beyond the maximum that are accepted for health probes when no connection is idle. */
const spare = 100;
/** Milliseconds after which the HTTP server has refused a request with an incomplete header section. */
const arrival = 11_000;
const logEvery = 60_000;

interface Network {
  readonly name: string;
  open: number;
  readonly idle: LinkedQueue<Connection>;
}

class Connection {
  readonly socket: Socket;
  readonly network: Network;
  readonly entry = new QueueEntry<Connection>(this);
  readonly networkEntry = new QueueEntry<Connection>(this);
  /** A request is in progress: its header section has arrived, and its response is not complete. */
  busy = false;
  /** Whether the connection was opened beyond the maximum. */
  spare = false;
  /** Bytes that had arrived when the connection became idle. Further bytes are the next request. */
  bytesRead = 0;
  /**
   * Whether the connection has sent bytes that are not a request, such as empty lines, since its last request. Further
   * bytes do not count as a request.
   */
  sentNoRequest = false;

  constructor(socket: Socket, network: Network) {
    this.socket = socket;
    this.network = network;
  }
}

/**
 * The open connections of a server. At the bound of a network or of the server, a new connection replaces the one that
 * has been idle longest (RFC 9112 section 9.5). Each call takes constant time.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #log: Log;
  readonly #open = new Map<Socket, Connection>();
  readonly #networks = new Map<string, Network>();
  readonly #idle = new LinkedQueue<Connection>();
  readonly #spare = new LinkedQueue<Connection>();
  readonly #logged = new Map<string, number>();
  /** All connections share one listener, because thousands of them may be open. */
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

  /** Adds a new connection. At a bound it closes an idle connection, or the new one when no connection is idle. */
  open(socket: Socket): void {
    const name = clientNetwork(socket.remoteAddress ?? '');
    const network = this.#networks.get(name) ?? { name, open: 0, idle: new LinkedQueue<Connection>() };
    const connection = new Connection(socket, network);
    if (!this.#makeRoomInNetwork(network) || !this.#makeRoom(connection)) {
      socket.destroy();
      return;
    }
    // Closing the last connection of this network has removed the network from the map, so it is added again.
    this.#networks.set(name, network);
    network.open += 1;
    this.#open.set(socket, connection);
    this.#rest(connection);
    socket.on('close', this.#closed);
  }

  /**
   * Called when a request arrives on an idle connection.
   * @returns spare: the connection was opened beyond the maximum and may only ask for health
   */
  begin(socket: Socket): 'regular' | 'spare' {
    const connection = this.#open.get(socket);
    if (connection === undefined) return 'regular';
    connection.busy = true;
    connection.sentNoRequest = false;
    this.#leaveQueues(connection);
    return connection.spare ? 'spare' : 'regular';
  }

  /** Called when all requests of a connection are answered. */
  end(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.busy = false;
    this.#rest(connection);
  }

  #rest(connection: Connection): void {
    connection.bytesRead = connection.socket.bytesRead;
    if (connection.spare) {
      this.#spare.join(connection.entry);
      return;
    }
    this.#idle.join(connection.entry);
    connection.network.idle.join(connection.networkEntry);
  }

  #leaveQueues(connection: Connection): void {
    (connection.spare ? this.#spare : this.#idle).leave(connection.entry);
    connection.network.idle.leave(connection.networkEntry);
  }

  #closeLongestIdle(queue: LinkedQueue<Connection>): boolean {
    for (let connection = queue.first; connection !== undefined; connection = queue.first) {
      if (connection.sentNoRequest || connection.socket.bytesRead === connection.bytesRead) {
        this.#close(connection);
        return true;
      }
      this.#receive(connection);
    }
    return false;
  }

  /**
   * Called when the next request of a connection is arriving. After bytes that are not a request, such as an empty
   * line, the connection becomes idle again.
   */
  #receive(connection: Connection): void {
    this.#leaveQueues(connection);
    const rest = (): void => {
      const closed = !this.#open.has(connection.socket);
      if (closed || connection.busy || connection.entry.queued) return;
      connection.sentNoRequest = true;
      this.#rest(connection);
    };
    setTimeout(rest, arrival).unref();
  }

  #makeRoomInNetwork({ name, open, idle }: Network): boolean {
    const { maximumPerAddress, trustedProxies } = this.#limits;
    if (trustedProxies > 0 || open < maximumPerAddress) return true;
    const room = this.#closeLongestIdle(idle);
    const what = room ? 'an idle connection was closed for a new one' : 'a new connection was closed';
    this.#warn(`${what}: its address has too many connections`, { address: name, open });
    return room;
  }

  #makeRoom(connection: Connection): boolean {
    const open = this.#open.size;
    if (open < this.#limits.maximumConnections) return true;
    connection.spare = !this.#closeLongestIdle(this.#idle);
    const what = connection.spare
      ? 'a new connection may only ask for health'
      : 'an idle connection was closed for a new one';
    this.#warn(`${what}: too many connections are open`, { open });
    return !connection.spare || this.#makeSpare();
  }

  /**
   * Makes room for one more spare connection. A probe sends its request immediately, so the oldest silent one is
   * closed.
   */
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

  /** Logs each text at most once a minute. */
  #warn(text: string, details: object): void {
    const now = performance.now();
    if (now - (this.#logged.get(text) ?? Number.NEGATIVE_INFINITY) < logEvery) return;
    this.#logged.set(text, now);
    this.#log.warn(details, text);
  }
}
