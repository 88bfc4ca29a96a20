// The request body: small ones are taken in whole before a service hears of them, larger ones stream through.
import { Problem } from '@shop/shared/protocol';
import type { Body, GatewayRequest, GatewayResponse } from './exchange.ts';
import { contentTooLarge } from './guard.ts';

// A body that is here in whole can be sent twice, is framed by its length whatever the client did, and a slow sender
// holds no connection to a service. Past this size the memory is worth more than that.
export const collected = 128 * 1024;
// Pieces are copied together: one of a single byte, kept by itself, would cost hundreds.
const smallestRoom = 1024;

/**
 * The body of a request, at most `maximum` bytes; taken in at the first call, the same at every further one.
 * @throws Problem 413 past the maximum, 400 when the client gave up
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
  if (request.expectsContinue) response.writeContinue();
  if (length > collected || (coded && maximum > collected)) return bounded(request, maximum);
  return new Promise((resolve, reject) => {
    let room: Buffer = Buffer.alloc(0);
    let bytes = 0;
    const incomplete = () => reject(new Problem('invalid-request', 'The request ended before its body was complete.'));
    request.on('data', (chunk: Buffer) => {
      const grown = bytes + chunk.length;
      if (grown > maximum) {
        reject(contentTooLarge(maximum));
        return;
      }
      // Most bodies are one piece, and are not copied at all.
      if (bytes === 0) room = chunk;
      else {
        if (grown > room.length) room = Buffer.concat([room], Math.max(grown, 2 * room.length, smallestRoom));
        room.set(chunk, bytes);
      }
      bytes = grown;
    });
    request.on('end', () => resolve(room.subarray(0, bytes)));
    request.on('error', incomplete);
    request.on('close', incomplete);
  });
}

async function* bounded(request: GatewayRequest, maximum: number): AsyncIterable<Buffer> {
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > maximum) throw contentTooLarge(maximum);
    yield chunk;
  }
}
