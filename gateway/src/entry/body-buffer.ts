// The bytes of one request body while it arrives, and the bound of all such bodies together.
import { contentTooLarge, Problem } from '@shop/shared/problem';

// All pieces are copied into one buffer: a buffer for each piece of one byte would cost hundreds of bytes.
const smallestBuffer = 1024;
const empty = Buffer.alloc(0);

/**
 * The maximum bytes of all buffered bodies together, so that a client that opens many connections cannot fill the
 * memory. The last part is reserved for small bodies, so that log-ins and orders still pass when large bodies fill the
 * rest.
 */
const totalLimit = 64 * 1024 * 1024;
const reservedForSmall = 8 * 1024 * 1024;
const small = 4 * 1024;
let total = 0;

export class BodyBuffer {
  readonly #maximum: number;
  readonly #expected: number;
  readonly #resolve: (body: Buffer) => void;
  readonly #reject: (problem: Problem) => void;
  #buffer: Buffer = empty;
  #bytes = 0;
  #closed = false;

  /** @param expected the declared length of the body; `maximum` when none is declared */
  constructor(maximum: number, expected: number, resolve: (body: Buffer) => void, reject: (problem: Problem) => void) {
    this.#maximum = maximum;
    this.#expected = expected;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  add(chunk: Buffer): void {
    if (this.#closed) return;
    const bytes = this.#bytes;
    const grown = bytes + chunk.length;
    if (grown > this.#maximum) {
      this.fail(contentTooLarge(this.#maximum));
      return;
    }
    const buffer = this.#buffer;
    if (grown > buffer.length) {
      // Most bodies arrive in one piece, and that piece is not copied.
      const size = bytes === 0 ? grown : Math.min(this.#expected, Math.max(grown, 2 * buffer.length, smallestBuffer));
      if (total + size - buffer.length > (size > small ? totalLimit - reservedForSmall : totalLimit)) {
        this.fail(tooManyBodies());
        return;
      }
      this.#replace(bytes === 0 ? chunk : Buffer.concat([buffer], size));
    }
    if (bytes > 0) this.#buffer.set(chunk, bytes);
    this.#bytes = grown;
  }

  /** Resolves with the body. Rejects when the buffer was released before the body was complete. */
  end(): void {
    if (this.#closed) this.#reject(incompleteBody());
    else this.#resolve(this.#buffer.subarray(0, this.#bytes));
  }

  /** Releases the buffer and rejects with the problem. */
  fail(problem: Problem): void {
    this.release();
    this.#reject(problem);
  }

  /** Frees the bytes. Further pieces are ignored. */
  release(): void {
    this.#closed = true;
    this.#replace(empty);
  }

  #replace(next: Buffer): void {
    total += next.length - this.#buffer.length;
    this.#buffer = next;
  }
}

export function incompleteBody(): Problem {
  return new Problem('invalid-request', 'The request ended before its body was complete.');
}

function tooManyBodies(): Problem {
  return new Problem('service-unavailable', 'Too many requests are being received at the moment; try again shortly.', {
    headers: { 'Retry-After': '1' },
    cause: new Error(`bodies of more than ${totalLimit} bytes together`),
  });
}
