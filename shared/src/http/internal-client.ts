// Calls from one service to another: over a reused connection, with a service token, the caller's request id and trace,
// and a time limit.
import { setTimeout } from 'node:timers/promises';
import { Pool } from 'undici';
import type { ServiceTokens } from '../auth/index.ts';
import { Problem } from '../problem/index.ts';
import { inRequest, requestNow } from '../runtime/index.ts';
import { inSpan, instruments, SpanKind } from '../telemetry/index.ts';
import type { RequestIdentity } from './request-identity.ts';

export interface InternalClientOptions {
  /** The origin of the other service. */
  readonly url: string;
  /** The name of the other service, which is the audience of the service tokens. */
  readonly service: string;
  readonly serviceTokens: ServiceTokens;
}

export interface InternalAnswer {
  /** The status, from 200 to 499. */
  readonly status: number;
  readonly body: unknown;
}

export interface InternalClient {
  /**
   * Sends a POST that may be repeated. When no connection can be made, or it breaks, the request is sent again, up to
   * two times.
   * @throws Problem `service-unavailable` when the other service is unavailable, slow or failing
   */
  post(path: string, body: object | undefined, identity: RequestIdentity): Promise<InternalAnswer>;
  close(): Promise<void>;
}

// The time limit of a whole call, in milliseconds.
const timeout = 3_000;
// Errors after which a call is repeated: no process listens at the address, or the other side closed the connection
// because it was idle or because it stopped.
const connectionErrors = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
// Milliseconds before each retry. For a moment after a replica was replaced, the name of the service may still resolve
// to its address.
const pauses = [0, 100];

export function createInternalClient(options: InternalClientOptions): InternalClient {
  const { service, serviceTokens } = options;
  const pool = new Pool(options.url, { connections: 64, connect: { timeout: 1_000 } });

  const send = async (path: string, body: string | undefined, identity: RequestIdentity, signal: AbortSignal) => {
    const answer = await pool.request({
      method: 'POST',
      path,
      headers: {
        Authorization: serviceTokens.sign(service, { method: 'POST', path, body: body ?? '' }),
        'X-Request-Id': identity.id,
        traceparent: requestNow()?.traceparent ?? identity.traceparent,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body }),
      signal,
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };

  const sendAgain = async (path: string, body: string | undefined, identity: RequestIdentity, signal: AbortSignal) => {
    for (const milliseconds of pauses) {
      try {
        return await send(path, body, identity, signal);
      } catch (error) {
        if (!connectionErrors.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
      }
      await setTimeout(milliseconds, undefined, { signal });
    }
    return send(path, body, identity, signal);
  };

  const attributes = { 'server.address': service, 'http.request.method': 'POST' };
  const call = async (path: string, body: string | undefined, identity: RequestIdentity, signal: AbortSignal) => {
    const began = performance.now();
    let status = 0;
    try {
      const answer = await sendAgain(path, body, identity, signal);
      status = answer.status;
      if (status >= 500) throw new Error(`${service} answered ${status}`);
      return answer;
    } finally {
      const outcome = status === 0 ? { 'error.type': 'away' } : { 'http.response.status_code': status };
      instruments.clientRequests.record((performance.now() - began) / 1000, { ...attributes, ...outcome });
    }
  };

  return {
    async post(path, body, identity) {
      const signal = AbortSignal.timeout(timeout);
      const text = body === undefined ? undefined : JSON.stringify(body);
      try {
        return await inRequest(identity, () =>
          inSpan(`POST ${service}`, SpanKind.CLIENT, attributes, () => call(path, text, identity, signal)),
        );
      } catch (error) {
        throw new Problem(
          'service-unavailable',
          'A service that this request needs is unavailable. Try again shortly.',
          {
            headers: { 'Retry-After': '1' },
            cause: error,
          },
        );
      }
    },
    close: () => pool.destroy(),
  };
}
