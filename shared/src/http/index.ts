// The door of everything between a socket and an operation.
export { etagOf, requireMatch } from './conditional.ts';
export { type Contract, type ContractOperation, loadContract } from './contract.ts';
export type { Answer } from './contract-answers.ts';
export { refuseFaults } from './contract-input.ts';
export { createApp } from './create-app.ts';
export { expiredAnswers, type IdempotencyContext, idempotent, keptAnswer } from './idempotent.ts';
export { createInternalClient, type InternalClient } from './internal-client.ts';
export { inexact, isExact } from './json-source.ts';
export { mergePatch } from './merge-patch.ts';
export {
  callerOf,
  type OperationRequest,
  type Operations,
  type Reply,
  type TypedOperation,
  type TypedRequest,
} from './operation.ts';
export { type Fault, Problem, type ProblemCode, problemDocument, problems } from './problem.ts';
export { maxBodyBytes, parseBody } from './read-body.ts';
export { requestIdentity } from './request-identity.ts';
export { serve } from './serve.ts';
export { cleanJson } from './text.ts';
