// A TCP proxy in front of PostgreSQL or the broker: passes, hangs, refuses, or cuts a connection at a chosen byte
// sequence.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Stops forwarding in both directions, also on new connections, until `pass`. */
  hang(): void;
  /** Ends all connections and refuses new ones until `pass`. */
  refuse(): void;
  pass(): void;
  /**
   * Cuts the next connection on which a client sends `bytes`. They reach the server, but its reply does not reach the
   * client.
   * @param of bytes that the client must have sent when it connected
   */
  cutAnswerTo(bytes: string, of?: string): void;
  /** How many connections were cut by `cutAnswerTo`. */
  cuts(): number;
  close(): Promise<void>;
}

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** Listens on a free loopback port. If there are several targets, each connection goes to the next one that answers. */
export async function startProxy(targets: readonly Target[]): Promise<TcpProxy> {
  const proxy = new FaultyProxy(targets);
  await proxy.listen();
  return proxy;
}

class FaultyProxy implements TcpProxy {
  readonly #targets: readonly Target[];
  readonly #server = createServer({ pauseOnConnect: true }, (client) => this.#join(client));
  readonly #sockets = new Set<Socket>();
  #turn = 0;
  #mode: 'pass' | 'hang' | 'refuse' = 'pass';
  #cut: { readonly at: string; readonly of: string } | undefined;
  #cuts = 0;

  constructor(targets: readonly Target[]) {
    this.#targets = targets;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  hang(): void {
    this.#mode = 'hang';
    for (const socket of this.#sockets) socket.pause();
  }

  refuse(): void {
    this.#mode = 'refuse';
    for (const socket of this.#sockets) socket.destroy();
  }

  pass(): void {
    this.#mode = 'pass';
    for (const socket of this.#sockets) socket.resume();
  }

  cutAnswerTo(bytes: string, of = ''): void {
    this.#cut = { at: bytes, of };
  }

  cuts(): number {
    return this.#cuts;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close').catch(() => {});
  }

  async #join(client: Socket): Promise<void> {
    if (this.#mode === 'refuse') {
      client.destroy();
      return;
    }
    client.on('error', () => {});
    const upstream = await this.#reach();
    if (upstream === undefined || client.destroyed) {
      client.destroy();
      upstream?.destroy();
      return;
    }
    this.#track(client);
    this.#track(upstream);
    let deaf = false;
    let greeting: Buffer | undefined;
    client.on('data', (data) => {
      greeting ??= data;
      upstream.write(data);
      if (this.#cut === undefined || !data.includes(this.#cut.at) || !greeting.includes(this.#cut.of)) return;
      this.#cut = undefined;
      this.#cuts += 1;
      deaf = true;
      setTimeout(() => client.destroy(), 50);
    });
    upstream.on('data', (data) => {
      if (!deaf) client.write(data);
    });
    if (this.#mode === 'pass') client.resume();
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  }

  /** @returns a connection to the next target that answers; undefined when none does */
  async #reach(): Promise<Socket | undefined> {
    for (let tried = 0; tried < this.#targets.length; tried += 1) {
      const target = this.#targets[this.#turn++ % this.#targets.length];
      if (target === undefined) continue;
      const socket = connect(target.port, target.host);
      const connected = await Promise.race([
        once(socket, 'connect').then(() => true),
        once(socket, 'error').then(() => false),
      ]).catch(() => false);
      if (connected) return socket;
      socket.destroy();
    }
    return undefined;
  }

  #track(socket: Socket): void {
    socket.setNoDelay(true);
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => {});
    if (this.#mode === 'hang') socket.pause();
  }
}
