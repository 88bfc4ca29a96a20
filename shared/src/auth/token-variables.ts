// The environment variables that say whose access tokens are taken: the same for the gateway and for every service.
import { oneOf, string, url } from '../runtime/index.ts';
import { tokenAlgorithms } from './key-rules.ts';

export const tokenVariables = {
  jwksUrl: url('JWKS_URL', ['http', 'https']),
  issuer: string('JWT_ISSUER'),
  audience: string('JWT_AUDIENCE'),
  /** What an outside identity provider signs with; ours are ES256. */
  algorithm: oneOf('JWT_ALGORITHM', tokenAlgorithms, 'ES256'),
};
