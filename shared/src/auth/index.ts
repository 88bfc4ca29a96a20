// The door of authentication: whose request it is, by an access token or by a token between services, and whether they may do it.
export { authorize } from './authorize.ts';
export type { Caller } from './caller.ts';
export { createServiceTokens, type ServiceTokens } from './service-token.ts';
export { tokenVariables } from './token-variables.ts';
export { bearerChallenge, createTokenVerifier, type TokenVerifier } from './verify-token.ts';
