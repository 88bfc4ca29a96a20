// The environment variables that define which access tokens are accepted. They are the same for the gateway and for
// every service.
import { oneOf, string, url } from '../runtime/index.ts';
import { tokenAlgorithms } from './key-rules.ts';

export const tokenVariables = {
  jwksUrl: url('JWKS_URL', ['http', 'https']),
  issuer: string('JWT_ISSUER'),
  audience: string('JWT_AUDIENCE'),
  /** The signature algorithm of an outside identity provider. The shop's own tokens use ES256. */
  algorithm: oneOf('JWT_ALGORITHM', tokenAlgorithms, 'ES256'),
};
