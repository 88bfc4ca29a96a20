// Service tokens, by which one process of the shop authenticates an internal call to another.
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Problem } from '../problem/index.ts';
import type { Secrets } from '../runtime/index.ts';

/** The request for which a token is valid. */
export interface InternalCall {
  readonly method: string;
  /** Path and query exactly as they are sent. */
  readonly path: string;
  /** The body as bytes or as a string; empty without a body. */
  readonly body: string | Uint8Array;
}

export interface ServiceTokens {
  /** Returns the `Authorization` value for one call to the service `audience`. */
  sign(audience: string, call: InternalCall): string;
  /**
   * Returns when a service signed this call.
   * @throws Problem `unauthenticated` unless the token was made for this call to `audience`
   */
  verify(authorization: string | undefined, audience: string, call: InternalCall): void;
}

const credentials = /^Bearer ([a-z][a-z-]{0,40})\.([A-Za-z0-9_-]{43})$/;

/**
 * Signs and verifies internal calls with secrets that all processes share. A token is a MAC of the caller, the
 * called service, the method, the path and the body. It contains no time, so the clocks of the processes may differ. An
 * eavesdropper can only repeat the same call, and no internal operation has a second effect when it is repeated.
 * @param options.secrets at least 32 bytes each; the first one signs, and all of them verify
 * @param options.name the service that signs
 */
export function createServiceTokens(options: { secrets: Secrets; name: string }): ServiceTokens {
  const [first, ...others] = options.secrets;
  const signingKey = callKey(first);
  const keys = [signingKey, ...others.map(callKey)];

  return {
    sign(audience, call) {
      return `Bearer ${options.name}.${macOf(signingKey, options.name, audience, call).toString('base64url')}`;
    },

    verify(authorization, audience, call) {
      const [, caller, mac] = credentials.exec(authorization ?? '') ?? [];
      if (caller === undefined || mac === undefined) throw refused();
      const given = Buffer.from(mac, 'base64url');
      if (!keys.some((key) => timingSafeEqual(given, macOf(key, caller, audience, call)))) throw refused();
    },
  };
}

/** Returns the key for calls. It is derived, because the secret also keys the fingerprints of repeated requests. */
function callKey(secret: string): KeyObject {
  if (Buffer.byteLength(secret) < 32) throw new Error('the internal secret must have at least 32 bytes');
  return createSecretKey(createHmac('sha256', secret).update('internal calls').digest());
}

/**
 * Returns the MAC of a call. The lines before the body cannot contain a line break, so two different calls never have
 * the same input.
 */
function macOf(key: KeyObject, caller: string, audience: string, { method, path, body }: InternalCall): Buffer {
  return createHmac('sha256', key).update(`${caller}\n${audience}\n${method}\n${path}\n`).update(body).digest();
}

function refused(): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="internal", error="invalid_token"' };
  return new Problem('unauthenticated', 'The service token is not valid.', { headers });
}
