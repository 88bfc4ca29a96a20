// Service tokens, by which one process of the shop authenticates an internal call to another.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { Problem } from '../problem/index.ts';

/** The request for which a token is valid. */
export interface InternalCall {
  readonly method: string;
  /** Path and query exactly as they are sent. */
  readonly path: string;
  /** The bytes or the text of the body; empty without a body. */
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
 * Signs and verifies internal calls with the secret that all processes share. A token is a MAC of the caller, the
 * called service, the method, the path and the body. It contains no time, so the clocks of the processes may differ. An
 * eavesdropper can only repeat the same call, and no internal operation has a second effect when it is repeated.
 * @param options.secret at least 32 bytes
 * @param options.name the service that signs
 */
export function createServiceTokens(options: { secret: string; name: string }): ServiceTokens {
  if (Buffer.byteLength(options.secret) < 32) throw new Error('the internal secret must have at least 32 bytes');
  // The key is derived for this purpose, because the secret also keys the fingerprints of repeated requests.
  const key = createSecretKey(createHmac('sha256', options.secret).update('internal calls').digest());
  // The lines before the body cannot contain a line break, so two different calls never have the same text.
  const macOf = (caller: string, audience: string, { method, path, body }: InternalCall): Buffer =>
    createHmac('sha256', key).update(`${caller}\n${audience}\n${method}\n${path}\n`).update(body).digest();

  return {
    sign: (audience, call) => `Bearer ${options.name}.${macOf(options.name, audience, call).toString('base64url')}`,

    verify(authorization, audience, call) {
      const [, caller, mac] = credentials.exec(authorization ?? '') ?? [];
      if (caller === undefined || mac === undefined) throw refused();
      if (!timingSafeEqual(Buffer.from(mac, 'base64url'), macOf(caller, audience, call))) throw refused();
    },
  };
}

function refused(): Problem {
  const headers = { 'WWW-Authenticate': 'Bearer realm="internal", error="invalid_token"' };
  return new Problem('unauthenticated', 'The service token is not valid.', { headers });
}
