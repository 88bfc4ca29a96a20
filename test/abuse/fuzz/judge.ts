// Compares a response with the public contract. No failure of the shop is accepted, because nothing is broken in a run.
import { type BodyRule, type ContractOperation, dereference, isNode, type Node, toNode } from '@shop/shared/contract';
import { type ProblemCode, problemMediaType, problems } from '@shop/shared/problem';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { gatewayFields } from '../../gateway-fields.ts';
import type { ReceivedAnswer } from '../raw-http/answer.ts';

export interface Judged {
  readonly method: string;
  /** The operation that the request addresses; undefined when no operation has its method and path. */
  readonly operation: ContractOperation | undefined;
  /** The bytes of the request's body. */
  readonly body?: Buffer | undefined;
  /** Whether a browser asks for a page, so that a page may say that there is none. */
  readonly asksForPage?: boolean;
}

/** What a request with a wrong form may get from the gateway instead of the operation's own responses. */
const refusedByGateway: readonly ProblemCode[] = ['request-timeout', 'uri-too-long', 'header-fields-too-large'];

/** Requests that no operation takes may get only these. */
const refusedWithoutOperation: ReadonlySet<string> = new Set([
  ...refusedByGateway,
  'invalid-request',
  'not-found',
  'method-not-allowed',
  'not-acceptable',
  'content-too-large',
  'unauthenticated',
]);

/** Lists in what a response deviates from the contract. */
export class Judge {
  readonly #document: Node;
  /** operationId and status → the problem codes that the contract names. */
  readonly #codes = new Map<string, ReadonlySet<string>>();
  readonly #ajv = new Ajv2020({ strict: false, validateSchema: false });
  /** operationId → the check of its request bodies. */
  readonly #bodies = new Map<string, ValidateFunction>();

  constructor(document: Node) {
    this.#document = document;
    addFormats.default(this.#ajv);
  }

  faults({ method, operation, body, asksForPage = false }: Judged, answer: ReceivedAnswer): string[] {
    const { status, headers, text } = answer;
    if (asksForPage && headers['content-type'] === pageType) return pageFaults(method, answer);
    const mayBePage = status < 300 && operation?.produces.includes('text/html') === true;
    const isPage = headers['content-type']?.includes('html') || /^\s*<(!doctype|html)/i.test(text);
    const everywhere = [
      ...(headers['x-request-id'] === undefined ? ['header x-request-id is missing'] : []),
      ...(status >= 500 && !isFullQueue(operation, answer) ? [`status ${status}`] : []),
      ...(isPage && !mayBePage ? ['the body is HTML'] : []),
      ...(status === 405 && headers.allow === undefined ? ['header allow is missing'] : []),
      ...(method === 'HEAD' && text !== '' ? ['a response to HEAD has a body'] : []),
      ...problemFaults(method, answer),
    ];
    if (everywhere.length > 0) return everywhere;
    const code = codeOf(answer);
    if (operation === undefined) {
      if (method === 'OPTIONS' && status < 300) return [];
      // The response to HEAD has no code.
      const allowed = status >= 400 && (code === undefined || refusedWithoutOperation.has(code));
      return allowed ? [] : [`${status} ${code ?? ''} for a request that no operation takes`];
    }
    const isDocumented = String(status) in toNode(this.#operation(operation).responses);
    const refusals = [...refusedByGateway].filter((each) => problems[each].status === status);
    // The response to HEAD has no code.
    if (!isDocumented && refusals.some((each) => code === undefined || code === each)) return [];
    return [
      ...this.#contractFaults(method, operation, answer),
      ...this.#codeFaults(operation, status, code),
      ...(status < 300 ? this.#bodyFaults(operation, body) : []),
    ];
  }

  /** What the contract forbids in the body of a request that has succeeded. Lines of a file are not judged. */
  #bodyFaults(operation: ContractOperation, body: Buffer = Buffer.alloc(0)): string[] {
    const rule = operation.body;
    if (body.length === 0) return rule?.required === true ? ['a success without the required body'] : [];
    if (rule === undefined) return ['a success with a body, which the operation does not take'];
    if (rule.isFile) return [];
    let value: unknown;
    try {
      value = JSON.parse(utf8.decode(body), normalized);
    } catch {
      return ['a success with a body that is not JSON'];
    }
    const check = this.#bodies.get(operation.operationId) ?? this.#ajv.compile(this.#bodySchema(operation, rule));
    this.#bodies.set(operation.operationId, check);
    if (check(value)) return [];
    const [error] = check.errors ?? [];
    return [`a success with a body that violates ${error?.keyword} at ${error?.instancePath || 'its root'}`];
  }

  #bodySchema(operation: ContractOperation, { mediaTypes: [type = ''] }: BodyRule): Node {
    const { content } = dereference(this.#document, this.#operation(operation).requestBody);
    const schema = toNode(toNode(toNode(content)[type]).schema);
    // Its references are those of the document.
    return { components: this.#document.components, ...schema };
  }

  #contractFaults(method: string, operation: ContractOperation, { status, headers, text }: ReceivedAnswer): string[] {
    const ofService = Object.entries(headers).filter(([name]) => !gatewayFields.includes(name));
    const withoutBody = method === 'HEAD' || status === 304;
    try {
      return operation.checkAnswer({ status, headers: Object.fromEntries(ofService), body: text, withoutBody });
    } catch (error) {
      return [`the body cannot be read: ${String(error)}`];
    }
  }

  #codeFaults(operation: ContractOperation, status: number, code: string | undefined): string[] {
    if (code === undefined) return [];
    const named = this.#documentedCodes(operation, status);
    return named.size === 0 || named.has(code) ? [] : [`problem ${code} is not documented for ${status}`];
  }

  #documentedCodes(operation: ContractOperation, status: number): ReadonlySet<string> {
    const key = `${operation.operationId} ${status}`;
    const known = this.#codes.get(key) ?? codesIn(this.#document, this.#operation(operation), status);
    this.#codes.set(key, known);
    return known;
  }

  #operation({ path, method }: ContractOperation): Node {
    return toNode(toNode(toNode(this.#document.paths)[path])[method]);
  }
}

/** The codes that the description of a documented response names, and those of its examples. */
function codesIn(document: Node, operation: Node, status: number): ReadonlySet<string> {
  const response = dereference(document, toNode(operation.responses)[status]);
  const media = toNode(toNode(response.content)[problemMediaType]);
  const examples = [media.example, ...Object.values(toNode(media.examples)).map((each) => toNode(each).value)];
  const described = String(response.description ?? '').matchAll(/`([a-z-]+)`/g);
  return new Set([
    ...[...described].flatMap(([, code = '']) => (Object.hasOwn(problems, code) ? [code] : [])),
    ...examples.flatMap((example) => (isNode(example) ? [String(example.code)] : [])),
  ]);
}

/** Whether an import is refused because many are waiting, which the contract describes. */
const isFullQueue = (operation: ContractOperation | undefined, { status, text }: ReceivedAnswer): boolean =>
  operation?.operationId === 'importProducts' && status === 503 && text.includes(' imports are waiting.');

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The shop counts the characters of a text in Unicode normalization form C. */
const normalized = (_name: string, value: unknown): unknown =>
  typeof value === 'string' ? value.normalize('NFC') : value;

const pageType = 'text/html; charset=utf-8';

/** The start page, or the page of an address at which nothing is. */
function pageFaults(method: string, { status, headers, text }: ReceivedAnswer): string[] {
  return [
    ...(status === 200 || status === 404 ? [] : [`a page with the status ${status}`]),
    ...(headers['x-request-id'] === undefined ? ['header x-request-id is missing'] : []),
    ...(headers['content-security-policy'] === undefined ? ['header content-security-policy is missing'] : []),
    ...((method === 'HEAD') === (text === '') ? [] : ['the page is empty, or the body of a response to HEAD']),
  ];
}

function codeOf({ headers, text }: ReceivedAnswer): string | undefined {
  if (headers['content-type'] !== problemMediaType || text === '') return undefined;
  return String(parsed(text)?.code);
}

function parsed(text: string): Node | undefined {
  try {
    return toNode(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** Every error is a problem document of the table, about this request. */
function problemFaults(method: string, { status, headers, text }: ReceivedAnswer): string[] {
  if (status < 400) return [];
  if (headers['content-type'] !== problemMediaType) return [`${status} has the media type ${headers['content-type']}`];
  if (method === 'HEAD') return [];
  const body = parsed(text);
  if (body === undefined) return [`${status} has a body that is not JSON`];
  const code = String(body.code);
  const entry = Object.hasOwn(problems, code) ? problems[code as keyof typeof problems] : undefined;
  if (entry === undefined) return [`problem ${code} is unknown`];
  return [
    ...(entry.status === status && body.status === status ? [] : [`problem ${code} has the status ${status}`]),
    ...(body.type === `/problems/${code}` ? [] : [`problem ${code} has the type ${body.type}`]),
    ...(body.instance === headers['x-request-id'] ? [] : ['instance is not the request id']),
    ...(status === 429 && headers['retry-after'] === undefined ? ['header retry-after is missing'] : []),
  ];
}
