// Detects RTSP and ICE requests, which Node's parser accepts as if they were HTTP.
import type { Socket } from 'node:net';

/**
 * The end of a request line that names one of these protocols. In HTTP only the end of a header value can match,
 * because a JSON string contains no line end.
 */
const otherProtocol = / (?:RTSP|ICE)\/\d\.\d\r?\n/;
/** Matches an incomplete end of such a line, at the end of the bytes that have arrived. */
const begun = / (?:R(?:T(?:S(?:P(?:\/(?:\d(?:\.(?:\d\r?)?)?)?)?)?)?)?|I(?:C(?:E(?:\/(?:\d(?:\.(?:\d\r?)?)?)?)?)?)?)?$/;
const longest = ' RTSP/1.0\r\n'.length;
const [lineFeed, brace] = [0x0a, 0x7d];

/** The used part of Node's parser of a connection, which Node's types do not declare. */
interface Parser {
  /** A copy of the bytes that are being parsed or were parsed last. */
  getCurrentBuffer(): Buffer;
  /** The key `kOnExecute` has the function that Node calls after it has parsed the bytes that arrived. */
  [callback: number]: (result: unknown) => void;
  readonly constructor: { readonly kOnExecute: number };
}

/**
 * Finds request lines that name another protocol than HTTP. Node does not expose the protocol of a request, so the
 * bytes are searched for it. They are read from the parser: with a listener for `data`, Node would emit every piece of
 * every body, which doubles the cost of slow senders.
 */
export class ProtocolNames {
  readonly #found: (socket: Socket) => void;
  readonly #inBody: (socket: Socket) => boolean;
  /** The last bytes that arrived, for connections on which they may be the beginning of such a name. */
  readonly #ends = new WeakMap<Socket, string>();
  /** The bytes that were searched last, because one piece may contain many requests. */
  #socket: Socket | undefined;
  #bytesRead = 0;

  /**
   * @param found called with a connection on which such a name has arrived
   * @param inBody whether the next bytes of the connection belong to a body
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

  /**
   * Searches the bytes that arrived last. It is called before each request is executed, because a protocol name may
   * follow in the same piece.
   */
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
    // Nearly all pieces end with a line end or a JSON document, after which no such name can continue.
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
