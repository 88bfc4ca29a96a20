// A service's OpenAPI document: reading, bundling and compiling it, and validating requests and responses.
export { methods, type OperationOutline, outlineOperations, type Security } from './contract-operations.ts';
export { type BodyRule, type Contract, type ContractOperation, loadContract, maxBodyBytes } from './load-contract.ts';
export { dereference, isNode, type Node, referenceTokens, toNode } from './openapi-document.ts';
export { bundleDocument, parseYaml, readDocument, readYaml } from './read-document.ts';
export { type QueryValue, refuseFaults } from './validate-request.ts';
export type { Answer } from './validate-response.ts';
