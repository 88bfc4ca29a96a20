// Loads a service's OpenAPI document: routes, request validation, security, and response validation.
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import addFormats from 'ajv-formats';
import { isId, parseId } from '../runtime/index.ts';
import { parseEmail } from '../shop/index.ts';
import { type OperationOutline, outlineOperations } from './contract-operations.ts';
import { type Deprecation, findDeprecation } from './deprecation.ts';
import {
  type Compiler,
  dereference,
  documentKey,
  isNode,
  locate,
  type Node,
  schemaAt,
  toNode,
} from './openapi-document.ts';
import { readDocument } from './read-document.ts';
import { type CheckedInput, checkInput, type RawInput, readParameter, refuseFaults } from './validate-request.ts';
import { type ResponseCheck, toResponseCheck } from './validate-response.ts';

/** Bytes of any JSON body. An operation may have a lower limit: `maxBytes`. */
export const maxBodyBytes = 100 * 1024;

export interface BodyRule {
  readonly mediaTypes: readonly string[];
  readonly required: boolean;
  /** Bytes. */
  readonly maxBytes: number;
  /** The operation gets the bytes of the body, and no JSON value. */
  readonly isFile: boolean;
  /** The header that tells which media types are taken: `Accept-Patch` (RFC 5789) or `Accept-Post`. */
  readonly acceptHeader: string;
}

export interface ContractOperation extends OperationOutline {
  readonly body: BodyRule | undefined;
  /** The media types of its successful responses. */
  readonly produces: readonly string[];
  readonly deprecation: Deprecation;
  /**
   * @throws Problem 404 for a path parameter that cannot identify a resource, 400 with every other fault, unless the
   * operation reports the faults itself
   */
  readonly check: (input: RawInput) => CheckedInput;
  /** Returns the parts of a response that the document does not allow; empty when it conforms. */
  readonly checkAnswer: ResponseCheck;
}

export interface Contract {
  readonly document: Node;
  readonly operations: readonly ContractOperation[];
}

/**
 * Reads an OpenAPI 3.1 document.
 * @throws when the document lacks properties that the shop needs
 */
export function loadContract(file: URL | string): Contract {
  const document = readDocument(file);
  const compilers = { accepted: acceptedCompiler(document), produced: producedCompiler(document) };
  const operations = outlineOperations(document).map((outline) => readOperation(compilers, outline));
  return { document, operations };
}

/** Compiles the schemas of responses: the shop writes ids in lower case. */
function producedCompiler(document: Node): Compiler {
  const ajv = createAjv();
  ajv.addFormat('uuid', isId);
  return { ajv: ajv.addSchema(document, documentKey), document };
}

/** Compiles the schemas of requests: an id of any case is accepted, and replaced by its lower case where it stands. */
function acceptedCompiler(document: Node): Compiler {
  const ajv = createAjv();
  // Bounds reject numbers that are too large, with one fault.
  for (const format of ['int32', 'int64']) ajv.addFormat(format, true);
  ajv.addFormat('uuid', (text) => parseId(text) !== undefined);
  // `minLength` rejects an empty string, which would otherwise have two faults.
  const isAddress = (_: unknown, text: string): boolean => text === '' || parseEmail(text) !== undefined;
  ajv.addKeyword({ keyword: 'x-email-address', type: 'string', validate: isAddress });
  ajv.addKeyword({
    keyword: 'x-lower-case',
    type: 'string',
    modifying: true,
    errors: false,
    validate: (_: unknown, text: string, _schema: unknown, place?: DataValidationCxt) => {
      if (isNode(place?.parentData) || Array.isArray(place?.parentData))
        Object.assign(place.parentData, { [place.parentDataProperty]: text.toLowerCase() });
      return true;
    },
  });
  return { ajv: ajv.addSchema(markIds(document) as Node, documentKey), document };
}

function markIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(markIds);
  if (!isNode(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, markIds(member)]);
  return Object.fromEntries(value.format === 'uuid' ? [...members, ['x-lower-case', true]] : members);
}

function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true, validateSchema: false });
  addFormats.default(ajv);
  return ajv;
}

interface Compilers {
  readonly accepted: Compiler;
  readonly produced: Compiler;
}

function readOperation({ accepted: compiler, produced }: Compilers, outline: OperationOutline): ContractOperation {
  const { path, method } = outline;
  const item = toNode(toNode(compiler.document.paths)[path]);
  const operation = toNode(item[method]);
  const at = ['paths', path, method];
  const bodyAt = locate(compiler.document, [...at, 'requestBody']);
  const mediaTypes = bodyAt === undefined ? [] : Object.keys(toNode(bodyAt.node.content));
  const places = [
    ...placesOf(['paths', path, 'parameters'], item.parameters),
    ...placesOf([...at, 'parameters'], operation.parameters),
  ];
  const parameters = places.map((place) => readParameter(compiler, place));
  // Some operations parse their body by a separate grammar, which reports more helpful errors than a schema could.
  const bodyErrorsOf =
    mediaTypes[0] === undefined ||
    bodyAt === undefined ||
    outline.takesFile ||
    bodyAt.node['x-checked-by-operation'] === true
      ? undefined
      : schemaAt(compiler, [...bodyAt.at, 'content', mediaTypes[0], 'schema']);
  const media = bodyAt === undefined ? {} : toNode(toNode(bodyAt.node.content)[mediaTypes[0] ?? '']);
  // Some operations find faults that a schema cannot express. Such an operation reports all faults in one response.
  const refusedByOperation = operation['x-refused-by-operation'] === true;
  return {
    ...outline,
    body:
      bodyAt === undefined
        ? undefined
        : {
            mediaTypes,
            required: bodyAt.node.required === true,
            maxBytes: outline.takesFile
              ? (outline.maxBytes ?? maxBodyBytes)
              : Math.min(outline.maxBytes ?? maxBodyBytes, maxBodyBytes),
            isFile: outline.takesFile,
            acceptHeader: method === 'patch' ? 'Accept-Patch' : 'Accept-Post',
          },
    produces: producedTypes(compiler.document, toNode(operation.responses)),
    deprecation: findDeprecation(compiler.document, operation, places, media.schema),
    check: (input) => {
      const checked = checkInput(parameters, bodyErrorsOf, input);
      if (!refusedByOperation) refuseFaults(checked.faults);
      return checked;
    },
    checkAnswer: toResponseCheck(produced, [...at, 'responses'], toNode(operation.responses)),
  };
}

/** Returns the media types of the first successful response with content; that of JSON when none has any. */
function producedTypes(document: Node, responses: Node): readonly string[] {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, response]) => Object.keys(toNode(dereference(document, response).content)));
  return types.find(({ length }) => length > 0) ?? ['application/json'];
}

/** Returns the locations of the members of a list in the document. */
function placesOf(at: readonly string[], list: unknown): string[][] {
  return Array.isArray(list) ? list.map((_, index) => [...at, String(index)]) : [];
}
