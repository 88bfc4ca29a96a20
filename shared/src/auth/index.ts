export { type Caller, hasScopes } from './caller.ts';
export type { TokenAlgorithm } from './key-rules.ts';
export { createServiceTokens, type InternalCall, type ServiceTokens } from './service-token.ts';
export { bearerChallenge, createTokenVerifier, type TokenVerifier, type TokenVerifierOptions } from './verify-token.ts';
