// Authentication by access tokens and by tokens between services, and authorization.
export { authorize } from './authorize.ts';
export type { Caller } from './caller.ts';
export { createServiceTokens, type ServiceTokens } from './service-token.ts';
export { tokenVariables } from './token-variables.ts';
export { bearerChallenge, createTokenVerifier, type TokenVerifier } from './verify-token.ts';
