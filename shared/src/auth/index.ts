// The door of authentication: whose request it is, by an access token or by a token between services.
export { type Caller, hasScopes } from './caller.ts';
export type { TokenAlgorithm } from './key-rules.ts';
export { createServiceTokens, type InternalCall, type ServiceTokens } from './service-token.ts';
export { bearerChallenge, createTokenVerifier, type TokenVerifier, type TokenVerifierOptions } from './verify-token.ts';
