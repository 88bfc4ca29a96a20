// Authentication by access tokens and by tokens between services, and authorization.
export { authenticate, isStillValid, requireServiceToken } from './authenticate.ts';
export { authorize } from './authorize.ts';
export type { Caller } from './caller.ts';
export { createEmailTokenSeal, type EmailTokenSeal } from './email-token-seal.ts';
export { createEncryption, type Encryption } from './encryption.ts';
export { createServiceTokens, type ServiceTokens } from './service-token.ts';
export { tokenVariables } from './token-variables.ts';
export { bearerChallenge, createTokenVerifier, type TokenVerifier } from './verify-token.ts';
