// Requests of RTSP and ICE, which Node's parser accepts and hands out as if they were HTTP.
import type { Socket } from 'node:net';

/** The end of their request line. In HTTP only the end of a header value looks like it: JSON has no line end in a string. */
const otherProtocol = / (?:RTSP|ICE)\/\d\.\d\r?\n/;
/** A part of it at the end of what has arrived, from its beginning. */
const begun = / (?:R(?:T(?:S(?:P(?:\/(?:\d(?:\.(?:\d\r?)?)?)?)?)?)?)?|I(?:C(?:E(?:\/(?:\d(?:\.(?:\d\r?)?)?)?)?)?)?)?$/;
const longest = ' RTSP/1.0\r\n'.length;
const [lineFeed, brace] = [0x0a, 0x7d];

/** What is used of Node's parser of a connection. Its types do not name it. */
interface Parser {
  /** A copy of the bytes that are parsed, or have just been. */
  getCurrentBuffer(): Buffer;
  /** Under `kOnExecute`, what Node calls when it has parsed what arrived. */
  [callback: number]: (result: unknown) => void;
  readonly constructor: { readonly kOnExecute: number };
}

/**
 * Finds request lines that name another protocol than HTTP. Node does not tell which protocol a request names, so the bytes are
 * searched for the name. They are taken from the parser: a listener for `data` would have Node hand out every piece of every body,
 * which doubles what slow senders cost.
 */
export class ProtocolNames {
  readonly #found: (socket: Socket) => void;
  readonly #inBody: (socket: Socket) => boolean;
  /** The end of what has arrived, for connections on which it may be the beginning of such a name. */
  readonly #ends = new WeakMap<Socket, string>();
  /** What was searched last: a piece may hold many requests. */
  #socket: Socket | undefined;
  #bytesRead = 0;

  /**
   * @param found called for a connection on which such a name has arrived
   * @param inBody whether what arrives is part of a body
   */
  constructor(found: (socket: Socket) => void, inBody: (socket: Socket) => boolean) {
    this.#found = found;
    this.#inBody = inBody;
  }

  /** Follows a new connection. */
  watch(socket: Socket): void {
    const parser = parserOf(socket);
    if (parser === undefined) return;
    const { kOnExecute } = parser.constructor;
    const parsed = parser[kOnExecute];
    parser[kOnExecute] = (result) => {
      if (!this.#inBody(socket)) this.search(socket);
      parsed?.(result);
    };
  }

  /** Searches what has just arrived. Called for each request before it is run, because a name may follow in the same piece. */
  search(socket: Socket): void {
    const { bytesRead } = socket;
    if (socket === this.#socket && bytesRead === this.#bytesRead) return;
    this.#socket = socket;
    this.#bytesRead = bytesRead;
    const bytes = parserOf(socket)?.getCurrentBuffer();
    if (bytes === undefined) return;
    const before = this.#ends.get(socket);
    if (before !== undefined) this.#ends.delete(socket);
    if (
      namesOther(bytes) ||
      (before !== undefined && otherProtocol.test(before + bytes.toString('latin1', 0, longest)))
    ) {
      this.#found(socket);
      return;
    }
    // Nearly everything ends with a line or a JSON document, and no such name goes on behind them.
    const last = bytes.at(-1);
    if (last === lineFeed || last === brace) return;
    const end = (before ?? '') + bytes.toString('latin1', Math.max(0, bytes.length - longest));
    const [part] = begun.exec(end.slice(-longest)) ?? [];
    if (part !== undefined) this.#ends.set(socket, part);
  }
}

function parserOf(socket: Socket): Parser | undefined {
  return (socket as { parser?: Parser | null }).parser ?? undefined;
}

function namesOther(bytes: Buffer): boolean {
  return (bytes.includes('RTSP/') || bytes.includes('ICE/')) && otherProtocol.test(bytes.toString('latin1'));
}
