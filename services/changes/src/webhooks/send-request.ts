// Sends a message once, and tells from the response what became of it.
import { toReason } from '@shop/shared/runtime';
import type { Dispatcher } from 'undici';
import { ForbiddenAddressError } from './address-guard.ts';
import { type Message, type Signers, signRequest } from './sign-request.ts';

export interface Attempt {
  readonly startedAt: Date;
  readonly milliseconds: number;
  /** The HTTP status; undefined without a response. */
  readonly status?: number;
  /** Why the attempt failed; undefined for a success. */
  readonly error?: string;
  /** The first 1 KiB of the response. */
  readonly answer?: string;
  /** The time before which the endpoint wants no further request. */
  readonly notBefore?: Date;
}

export interface SendOptions {
  readonly agent: Dispatcher;
  /** Milliseconds for the whole request. */
  readonly within: number;
  /** Aborts the request when the process stops. */
  readonly halt: AbortSignal;
}

const longestAnswer = 1_024;
const longestRetryAfter = 24 * 3_600_000;

/**
 * Sends the message; never rejects for a fault of the endpoint.
 * @throws the reason of the signal when the process stops
 */
export async function sendRequest(
  url: string,
  message: Message,
  signers: Signers,
  { agent, within, halt }: SendOptions,
): Promise<Attempt> {
  const startedAt = new Date();
  const began = performance.now();
  const limit = AbortSignal.timeout(within);
  const signal = AbortSignal.any([limit, halt]);
  halt.throwIfAborted();
  let result: Partial<Attempt>;
  try {
    // A look-up of a name ignores the signal.
    const headers = signRequest(url, message, signers, startedAt);
    result = await Promise.race([request(url, message, headers, agent, signal), aborted(signal)]);
  } catch (error) {
    halt.throwIfAborted();
    result = { error: limit.aborted ? `No complete response within ${within / 1_000} s.` : reasonOf(error) };
  }
  return { startedAt, milliseconds: Math.round(performance.now() - began), ...result };
}

async function request(
  url: string,
  { body }: Message,
  headers: Record<string, string>,
  agent: Dispatcher,
  signal: AbortSignal,
): Promise<Partial<Attempt>> {
  const { origin, pathname, search } = new URL(url);
  const response = await agent.request({
    origin,
    path: pathname + search,
    method: 'POST',
    headers: { ...headers, 'user-agent': 'shop-webhooks' },
    body,
    signal,
  });
  const { statusCode: status } = response;
  const answer = await firstBytes(response.body);
  const isSuccess = status >= 200 && status < 300;
  const error = status >= 300 && status < 400 ? 'Redirects are not followed.' : `The endpoint answered ${status}.`;
  return {
    status,
    ...(answer !== '' && { answer }),
    ...(!isSuccess && { error, ...retryAfter(response.headers['retry-after']) }),
  };
}

/** Rejects when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  return promise;
}

/** Returns the beginning of the body, and ends the connection when more follows. */
async function firstBytes(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > longestAnswer) break;
  }
  // PostgreSQL stores no NUL.
  return Buffer.concat(chunks).subarray(0, longestAnswer).toString('utf8').replaceAll('\0', '\ufffd');
}

/** Seconds or a date (RFC 9110 section 10.2.3). */
function retryAfter(header: string | string[] | undefined): { readonly notBefore?: Date } {
  if (typeof header !== 'string') return {};
  const at = /^\d+$/.test(header) ? Date.now() + Number(header) * 1_000 : Date.parse(header);
  return Number.isNaN(at) ? {} : { notBefore: new Date(Math.min(at, Date.now() + longestRetryAfter)) };
}

function reasonOf(error: unknown): string {
  if (error instanceof ForbiddenAddressError) return error.message;
  return `No complete response: ${toReason(error)}`.slice(0, 500).replaceAll('\0', '\ufffd');
}
