// The request body: small ones are taken in whole before a service hears of them, larger ones stream through.
import { contentTooLarge, Problem } from '@shop/shared/problem';
import { type Body, type GatewayRequest, type GatewayResponse, whenOver } from './exchange.ts';

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
 * The body of a request, at most `maximum` bytes or as many as its contract accepts; taken in at the first call, the same at
 * every further one.
 * @throws Problem 413 past the maximum, 503 with `Retry-After` when too much is held, 400 when the client gave up or was
 *   refused meanwhile
 */
export function bodyOf(request: GatewayRequest, response: GatewayResponse, maximum: number): Promise<Body> {
  request.body ??= collect(request, response, Math.min(maximum, request.operation?.maxBytes ?? maximum));
  return request.body;
}

function collect(request: GatewayRequest, response: GatewayResponse, maximum: number): Promise<Body> {
  const coded = request.headers['transfer-encoding'] !== undefined;
  const length = Number(request.headers['content-length'] ?? 0);
  if (!coded && length === 0) return Promise.resolve(undefined);
  if (length > maximum) return Promise.reject(contentTooLarge(maximum));
  if (isOver(request)) return Promise.reject(incomplete());
  if (request.expectsContinue) response.writeContinue();
  if (length > collected || (coded && maximum > collected)) return Promise.resolve(bounded(request, response, maximum));
  return new Promise((resolve, reject) => {
    request.collection = new Collection(maximum, coded ? maximum : length, resolve, reject);
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone);
    // Until then the body is held: it may be sent a second time.
    response.on('close', onOver);
  });
}

// The same functions for every request: thousands may wait for their senders at once, and what each of them keeps is work for
// every collection of the heap.
function onData(this: GatewayRequest, chunk: Buffer): void {
  this.collection?.add(chunk);
}

function onEnd(this: GatewayRequest): void {
  if (isOver(this)) this.collection?.refuse(incomplete());
  else this.collection?.end();
}

function onGone(this: GatewayRequest): void {
  if (!this.readableEnded) this.collection?.refuse(incomplete());
}

const onOver = whenOver((request) => request.collection?.drop());

/** A body on its way in. */
export class Collection {
  readonly #maximum: number;
  readonly #most: number;
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (problem: Problem) => void;
  #room: Buffer = nothing;
  #bytes = 0;
  #over = false;

  /** @param most bytes that it can have by its length; `maximum` when it came without */
  constructor(maximum: number, most: number, resolve: (body: Buffer) => void, reject: (problem: Problem) => void) {
    this.#maximum = maximum;
    this.#most = most;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  add(chunk: Buffer): void {
    if (this.#over) return;
    const bytes = this.#bytes;
    const grown = bytes + chunk.length;
    if (grown > this.#maximum) {
      this.refuse(contentTooLarge(this.#maximum));
      return;
    }
    const room = this.#room;
    if (grown > room.length) {
      // Most bodies are one piece, and are not copied at all.
      const size = bytes === 0 ? grown : Math.min(this.#most, Math.max(grown, 2 * room.length, smallestRoom));
      if (held + size - room.length > (size > small ? heldAtMost - keptForSmall : heldAtMost)) {
        this.refuse(tooManyBodies());
        return;
      }
      this.#keep(bytes === 0 ? chunk : Buffer.concat([room], size));
    }
    if (bytes > 0) this.#room.set(chunk, bytes);
    this.#bytes = grown;
  }

  end(): void {
    if (this.#over) this.#reject(incomplete());
    else this.#resolve(this.#room.subarray(0, this.#bytes));
  }

  refuse(problem: Problem): void {
    this.drop();
    this.#reject(problem);
  }

  /** Nothing is held any more, and nothing will be. */
  drop(): void {
    this.#over = true;
    this.#keep(nothing);
  }

  #keep(next: Buffer): void {
    held += next.length - this.#room.length;
    this.#room = next;
  }
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
