// The request body: small ones are taken in whole before a service hears of them, larger ones stream through.
import { Problem } from '@shop/shared/protocol';
import type { Body, GatewayRequest, GatewayResponse } from './exchange.ts';
import { contentTooLarge } from './guard.ts';

// A body that is here in whole can be sent twice, is framed by its length whatever the client did, and a slow sender
// holds no connection to a service. Past this size the memory is worth more than that.
export const collected = 128 * 1024;
// Pieces are copied together: one of a single byte, kept by itself, would cost hundreds.
const smallestRoom = 1024;
const nothing = Buffer.alloc(0);

/**
 * Bytes of all collected bodies together: whoever opens many connections fills this, and not the memory. The last part is for
 * small ones: whoever fills the rest keeps nobody from logging in or ordering.
 */
const heldAtMost = 64 * 1024 * 1024;
const keptForSmall = 8 * 1024 * 1024;
const small = 4 * 1024;
let held = 0;

/**
 * The body of a request, at most `maximum` bytes; taken in at the first call, the same at every further one.
 * @throws Problem 413 past the maximum, 503 with `Retry-After` when too much is held, 400 when the client gave up or was
 *   refused meanwhile
 */
export function bodyOf(request: GatewayRequest, response: GatewayResponse, maximum: number): Promise<Body> {
  request.body ??= collect(request, response, maximum);
  return request.body;
}

async function collect(request: GatewayRequest, response: GatewayResponse, maximum: number): Promise<Body> {
  const coded = request.headers['transfer-encoding'] !== undefined;
  const length = Number(request.headers['content-length'] ?? 0);
  if (!coded && length === 0) return undefined;
  if (length > maximum) throw contentTooLarge(maximum);
  if (isOver(request)) throw incomplete();
  if (request.expectsContinue) response.writeContinue();
  if (length > collected || (coded && maximum > collected)) return bounded(request, response, maximum);
  return new Promise((resolve, reject) => {
    const most = coded ? maximum : length;
    let room: Buffer = nothing;
    let bytes = 0;
    const keep = (next: Buffer): void => {
      held += next.length - room.length;
      room = next;
    };
    const drop = (): void => {
      request.off('data', add);
      keep(nothing);
    };
    const refuse = (problem: Problem): void => {
      drop();
      reject(problem);
    };
    const add = (chunk: Buffer): void => {
      const grown = bytes + chunk.length;
      if (grown > maximum) {
        refuse(contentTooLarge(maximum));
        return;
      }
      if (grown > room.length) {
        // Most bodies are one piece, and are not copied at all.
        const size = bytes === 0 ? grown : Math.min(most, Math.max(grown, 2 * room.length, smallestRoom));
        if (held + size - room.length > (size > small ? heldAtMost - keptForSmall : heldAtMost)) {
          refuse(tooManyBodies());
          return;
        }
        keep(bytes === 0 ? chunk : Buffer.concat([room], size));
      }
      if (bytes > 0) room.set(chunk, bytes);
      bytes = grown;
    };
    request.on('data', add);
    const giveUp = (): void => reject(incomplete());
    request.on('end', () => (isOver(request) ? giveUp() : resolve(room.subarray(0, bytes))));
    request.on('error', giveUp);
    request.on('close', giveUp);
    // Until then the body is held: it may be sent a second time.
    response.on('close', drop);
  });
}

async function* bounded(request: GatewayRequest, response: GatewayResponse, maximum: number): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maximum) {
      // The rest is not read any more, so nothing can come after it.
      response.shouldKeepAlive = false;
      throw contentTooLarge(maximum);
    }
    if (isOver(request)) throw incomplete();
    yield chunk;
  }
  if (isOver(request)) throw incomplete();
}

/** Whether its connection takes no answer any more. The request may have been refused as late: then it must not be done. */
function isOver({ socket }: GatewayRequest): boolean {
  return !socket.writable;
}

function incomplete(): Problem {
  return new Problem('invalid-request', 'The request ended before its body was complete.');
}

function tooManyBodies(): Problem {
  return new Problem('service-unavailable', 'Too many requests are being received at the moment; try again shortly.', {
    headers: { 'Retry-After': '1' },
    cause: new Error(`bodies of more than ${heldAtMost} bytes together`),
  });
}
