// The request body: a small one is buffered before the upstream is asked, a larger one is streamed.
import type { OperationOutline } from '@shop/shared/contract';
import { contentTooLarge } from '@shop/shared/problem';
import { BodyBuffer, incompleteBody } from './body-buffer.ts';
import type { Body, GatewayRequest, GatewayResponse } from './gateway-request.ts';

// The maximum size of a buffered body. A buffered body can be sent twice and always has a Content-Length, and its slow
// sender occupies no connection to an upstream. For larger bodies, the memory costs more than these advantages.
export const bufferedAtMost = 128 * 1024;

/** The maximum size of a file that an operation may accept, in bytes. */
export const largestFile = 10 * 1024 * 1024;

/** Returns the maximum size of a body: the contract's, but not more than `maximum` unless it is a file. */
export function bodyBound(operation: OperationOutline | undefined, maximum: number): number {
  const bound = operation?.takesFile === true ? largestFile : maximum;
  return Math.min(operation?.maxBytes ?? bound, bound);
}

/**
 * Returns the body of a request, at most `maximum` bytes or as many as its contract accepts. The first call starts to
 * read it; each further call returns the same promise.
 * @throws Problem 413 past the maximum; 503 with `Retry-After` when the buffered bodies exceed their common bound; 400
 * when the client closed the connection or the request was rejected meanwhile
 */
export function receiveBody(request: GatewayRequest, response: GatewayResponse, maximum: number): Promise<Body> {
  request.body ??= startReading(request, response, bodyBound(request.operation, maximum));
  return request.body;
}

function startReading(request: GatewayRequest, response: GatewayResponse, maximum: number): Promise<Body> {
  const chunked = request.headers['transfer-encoding'] !== undefined;
  const length = Number(request.headers['content-length'] ?? 0);
  if (!chunked && length === 0) return Promise.resolve(undefined);
  if (length > maximum) return Promise.reject(contentTooLarge(maximum));
  if (connectionEnded(request)) return Promise.reject(incompleteBody());
  if (request.expectsContinue) response.writeContinue();
  if (length > bufferedAtMost || (chunked && maximum > bufferedAtMost))
    return Promise.resolve(streamBody(request, response, maximum));
  return new Promise((resolve, reject) => {
    request.bodyBuffer = new BodyBuffer(maximum, chunked ? maximum : length, resolve, reject);
    request.on('data', onData).on('end', onEnd).on('error', onAbort).on('close', onAbort);
    // The buffer is retained until the response closes, because a second attempt may send it again.
    response.on('close', () => request.bodyBuffer?.release());
  });
}

// All requests share these listeners. Thousands of requests may wait for their senders, and each closure of a request
// makes every garbage collection slower.
function onData(this: GatewayRequest, chunk: Buffer): void {
  this.bodyBuffer?.add(chunk);
}

function onEnd(this: GatewayRequest): void {
  if (connectionEnded(this)) this.bodyBuffer?.fail(incompleteBody());
  else this.bodyBuffer?.end();
}

function onAbort(this: GatewayRequest): void {
  if (!this.readableEnded) this.bodyBuffer?.fail(incompleteBody());
}

async function* streamBody(request: GatewayRequest, response: GatewayResponse, maximum: number): AsyncIterable<Buffer> {
  let bytes = 0;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > maximum) {
        // The rest may be endless, so the connection carries no further request.
        response.shouldKeepAlive = false;
        throw contentTooLarge(maximum);
      }
      if (connectionEnded(request)) throw incompleteBody();
      yield chunk;
    }
    if (connectionEnded(request)) throw incompleteBody();
  } finally {
    // The upstream may have responded before the end of the body. Many clients read the response only after they have
    // sent everything.
    request.resume();
  }
}

/**
 * Returns whether the connection can carry no further response. The request may have been rejected because it was late;
 * then it must not be executed.
 */
function connectionEnded({ socket }: GatewayRequest): boolean {
  return !socket.writable;
}
