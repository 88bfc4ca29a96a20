// Reads a service's OpenAPI document and compiles it: routes, input checks, security, and checks of answers.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { isId } from '../runtime/index.ts';
import { type AnswerCheck, compileAnswerCheck } from './contract-answers.ts';
import { type CheckedInput, checkInput, listParameters, type RawInput } from './contract-input.ts';
import { deprecationHeaders } from './deprecation.ts';
import { type Compiler, documentKey, isNode, locate, type Node, nodeOf, schemaAt } from './openapi-document.ts';
import type { BodyRule } from './read-body.ts';

export const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof methods)[number];

/** Who may call: nobody in particular, a bearer (with all the scopes), or another service. */
export interface Security {
  readonly access: 'public' | 'optional' | 'required' | 'service';
  readonly scopes: readonly string[];
}

export interface ContractOperation {
  readonly operationId: string;
  readonly method: Method;
  /** As in the document: `/v1/orders/{orderId}`. */
  readonly path: string;
  readonly internal: boolean;
  readonly security: Security;
  readonly body: BodyRule | undefined;
  /** Answer headers of a deprecated operation. */
  readonly headers: Readonly<Record<string, string>>;
  /** @throws Problem 404 for a path parameter that can name nothing, 400 with every other fault */
  readonly check: (input: RawInput) => CheckedInput;
  /** What in an answer the document does not allow; empty when it conforms. */
  readonly checkAnswer: AnswerCheck;
}

export interface Contract {
  readonly document: Node;
  readonly operations: readonly ContractOperation[];
}

/** Reads and compiles an OpenAPI 3.1 document. @throws when the document does not say what the shop needs */
export function loadContract(file: URL | string): Contract {
  const document: unknown = parse(readFileSync(file, 'utf8'));
  if (!isNode(document) || !isNode(document.paths)) throw new Error(`${file} is not an OpenAPI document`);
  const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true, validateSchema: false });
  addFormats.default(ajv);
  ajv.addFormat('uuid', isId);
  ajv.addSchema(document, documentKey);
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => {
      const operation = isNode(item) ? item[method] : undefined;
      if (!isNode(item) || !isNode(operation)) return [];
      return [compileOperation({ ajv, document }, path, method, item, operation)];
    }),
  );
  return { document, operations };
}

function compileOperation(
  compiler: Compiler,
  path: string,
  method: Method,
  item: Node,
  operation: Node,
): ContractOperation {
  const { operationId } = operation;
  if (typeof operationId !== 'string') throw new Error(`${method} ${path} has no operationId`);
  const at = ['paths', path, method];
  const bodyAt = locate(compiler, [...at, 'requestBody']);
  const mediaTypes = bodyAt === undefined ? [] : Object.keys(nodeOf(bodyAt.node.content));
  const parameters = [
    ...listParameters(compiler, ['paths', path, 'parameters'], item.parameters),
    ...listParameters(compiler, [...at, 'parameters'], operation.parameters),
  ];
  // Where an operation reads its body by a grammar of its own, that grammar refuses with more help than a schema could.
  const checkBody =
    mediaTypes[0] === undefined || bodyAt === undefined || bodyAt.node['x-checked-by-operation'] === true
      ? undefined
      : schemaAt(compiler, [...bodyAt.at, 'content', mediaTypes[0], 'schema']);
  return {
    operationId,
    method,
    path,
    internal: operation['x-internal'] === true,
    security: securityOf(operation.security ?? compiler.document.security),
    body:
      bodyAt === undefined
        ? undefined
        : {
            mediaTypes,
            required: bodyAt.node.required === true,
            acceptHeader: method === 'patch' ? 'Accept-Patch' : 'Accept-Post',
          },
    headers: deprecationHeaders(operation),
    check: (input) => checkInput(parameters, checkBody, input),
    checkAnswer: compileAnswerCheck(compiler, [...at, 'responses'], nodeOf(operation.responses)),
  };
}

function securityOf(security: unknown): Security {
  const alternatives = Array.isArray(security) ? security.filter(isNode) : [];
  const bearer = alternatives.find((alternative) => Array.isArray(alternative.bearer));
  const anonymous =
    alternatives.length === 0 || alternatives.some((alternative) => Object.keys(alternative).length === 0);
  if (alternatives.some((alternative) => 'serviceToken' in alternative)) return { access: 'service', scopes: [] };
  if (bearer === undefined) return { access: 'public', scopes: [] };
  return { access: anonymous ? 'optional' : 'required', scopes: (bearer.bearer as unknown[]).map(String) };
}
