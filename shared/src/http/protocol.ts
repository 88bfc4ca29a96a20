// What the gateway and the services both speak: contracts, problem documents, request identity. Without Express and
// without PostgreSQL, so that a process that needs neither does not carry them.
export { notModified } from './conditional.ts';
export { methods, type OperationOutline, outlineOperations, readDocument, type Security } from './contract-outline.ts';
export { isNode, type Node, nodeOf, referenceTokens, resolve } from './openapi-document.ts';
export {
  type Fault,
  Problem,
  type ProblemCode,
  type ProblemOptions,
  problemDocument,
  problemMediaType,
  problems,
} from './problem.ts';
export { type Arrival, arrivalOf, type RequestIdentity, requestIdentity } from './request-identity.ts';
