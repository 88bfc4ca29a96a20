// What the gateway and the services both speak: contracts, problem documents, request identity. Without Express and
// without PostgreSQL, so that a process that needs neither does not carry them.
export { notModified } from './conditional.ts';
export { methods, type OperationOutline, outlineOperations } from './contract-outline.ts';
export { isNode, type Node, nodeOf, referenceTokens, resolve } from './openapi-document.ts';
export { contentTooLarge, Problem, type ProblemCode, problemDocument, problemMediaType, problems } from './problem.ts';
export { bundleDocument, readDocument } from './read-document.ts';
export { arrivalOf, requestIdentity } from './request-identity.ts';
