// Requests of RTSP and ICE, which Node's parser accepts and hands out as if they were HTTP.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The end of their request line. In HTTP only the end of a header value looks like it: JSON has no line end in a string. */
const otherProtocol = / (?:RTSP|ICE)\/\d\.\d\r?\n/;
/** A part of it at the end of what has arrived, from its beginning. */
const begun = / (?:R(?:T(?:S(?:P(?:\/(?:\d(?:\.(?:\d\r?)?)?)?)?)?)?)?|I(?:C(?:E(?:\/(?:\d(?:\.(?:\d\r?)?)?)?)?)?)?)?$/;
const longest = ' RTSP/1.0\r\n'.length;
const [lineFeed, brace] = [0x0a, 0x7d];

/**
 * Emits `clientError` for a connection on which a request line names another protocol than HTTP, before the parser gets the bytes.
 * Node does not tell which protocol a request names, so the bytes are searched for the name.
 */
export function watchProtocol(server: Server): void {
  /** The end of what has arrived, for connections on which it may be the beginning of such a name. */
  const ends = new WeakMap<Socket, string>();
  function search(this: Socket, bytes: Buffer): void {
    const before = ends.get(this);
    if (before !== undefined) ends.delete(this);
    if (
      namesOther(bytes) ||
      (before !== undefined && otherProtocol.test(before + bytes.toString('latin1', 0, longest)))
    ) {
      server.emit('clientError', new Error('the request line does not name HTTP'), this);
      return;
    }
    // Nearly everything ends with a line or a JSON document, and no such name goes on behind them.
    const last = bytes.at(-1);
    if (last === lineFeed || last === brace) return;
    const end = (before ?? '') + bytes.toString('latin1', Math.max(0, bytes.length - longest));
    const [part] = begun.exec(end.slice(-longest)) ?? [];
    if (part !== undefined) ends.set(this, part);
  }
  server.on('connection', (socket) => socket.prependListener('data', search));
}

function namesOther(bytes: Buffer): boolean {
  return (bytes.includes('RTSP/') || bytes.includes('ICE/')) && otherProtocol.test(bytes.toString('latin1'));
}
