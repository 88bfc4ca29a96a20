// Reads the bytes of a request and parses them as a valid JSON value, or throws a problem that lists their faults. The
// bytes of a file are not parsed.
import type { Request } from 'express';
import { type BodyRule, maxBodyBytes } from '../contract/index.ts';
import { cleanJson, invalidJson, type JsonSize, jsonSize, sourceFaults } from '../json/index.ts';
import { contentTooLarge, type Fault, maxFaults, Problem } from '../problem/index.ts';

/**
 * The maximum numbers are four times the members of the largest body that a contract permits, and twice the values of
 * its longest lists.
 */
const maxSize: JsonSize = { members: 1_000, elements: 4_000 };

/** The maximum size of all files together that may be in memory, in bytes. */
const maxFileBytes = 40 * 1024 * 1024;
let fileBytes = 0;
/** The bytes with which each request counts. */
const countedBytes = new WeakMap<Request, number>();

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the whole body.
 * @param rule undefined for an operation without a body
 * @returns undefined when there is no body and none is required
 * @throws Problem 400, 413 or 415; 503 with `Retry-After` when the files in memory would be too large together
 */
export async function readBody(request: Request, rule: BodyRule | undefined): Promise<Buffer | undefined> {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody) {
    if (rule?.required !== true) return undefined;
    throw missingBody(rule);
  }
  if (rule === undefined) {
    // A chunked body may be empty.
    if ((await readBytes(request, maxBodyBytes)).length === 0) return undefined;
    throw new Problem('invalid-request', 'This request takes no body.', {
      errors: [{ pointer: '', detail: 'must be absent' }],
    });
  }
  checkMediaType(request, rule);
  if (rule.isFile) {
    const file = await readFile(request, rule.maxBytes);
    if (file.length === 0) throw missingBody(rule);
    return file;
  }
  const bytes = await readBytes(request, rule.maxBytes);
  return bytes.length === 0 && !rule.required ? undefined : bytes;
}

function missingBody({ isFile, mediaTypes }: BodyRule): Problem {
  const what = isFile ? `a body of ${mediaTypes.join(' or ')}` : 'a JSON body';
  return new Problem('invalid-request', `The request needs ${what}.`, {
    errors: [{ pointer: '', detail: 'is required' }],
  });
}

/** Reads a file. Its maximum size counts towards the files in memory until `forgetFile`. */
async function readFile(request: Request, maxBytes: number): Promise<Buffer> {
  const bytes = Math.min(Number(request.headers['content-length'] ?? maxBytes), maxBytes);
  if (fileBytes + bytes > maxFileBytes) {
    throw new Problem('service-unavailable', 'Too many files are being received at the moment. Try again shortly.', {
      headers: { 'Retry-After': '1' },
      cause: new Error(`files of more than ${maxFileBytes} bytes together`),
    });
  }
  fileBytes += bytes;
  countedBytes.set(request, bytes);
  return readBytes(request, maxBytes);
}

/** Frees the file of a request. Call it after the request was handled. */
export function forgetFile(request: Request): void {
  fileBytes -= countedBytes.get(request) ?? 0;
  countedBytes.delete(request);
}

/**
 * Returns all bytes of the body.
 * @throws Problem 413 as soon as there are too many, 400 when the connection closes before the body is complete
 */
function readBytes(request: Request, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = () => reject(contentTooLarge(maxBytes));
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      tooLarge();
      return;
    }
    const incomplete = (cause?: Error) =>
      reject(new Problem('invalid-request', 'The body ended before its announced length.', cause && { cause }));
    // The client may have disconnected while the token was verified. Then no further event is emitted.
    if (request.destroyed) {
      incomplete();
      return;
    }
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      // The rest is read and discarded, so that the connection can carry the next request.
      else tooLarge();
    });
    request.on('end', () => resolve(Buffer.concat(chunks, length)));
    request.on('error', incomplete);
  });
}

function checkMediaType(request: Request, rule: BodyRule): void {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  const encoding = request.headers['content-encoding']?.toLowerCase() ?? 'identity';
  const accepted = { headers: { [rule.acceptHeader]: rule.mediaTypes.join(', ') } };
  if (!rule.mediaTypes.includes(type)) {
    throw new Problem('unsupported-media-type', `Send the body as ${rule.mediaTypes.join(' or ')}.`, {
      ...accepted,
      errors: [
        { header: 'Content-Type', detail: type === '' ? 'is missing' : `must be ${rule.mediaTypes.join(' or ')}` },
      ],
    });
  }
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new Problem('unsupported-media-type', 'Send the body in UTF-8.', {
      ...accepted,
      errors: [{ header: 'Content-Type', detail: 'must have no charset other than utf-8' }],
    });
  }
  if (encoding !== 'identity') {
    throw new Problem('unsupported-media-type', 'Send the body without a content encoding.', {
      headers: { ...accepted.headers, 'Accept-Encoding': 'identity' },
      errors: [{ header: 'Content-Encoding', detail: 'must be absent' }],
    });
  }
}

export interface ParsedBody {
  readonly value: unknown;
  /**
   * The faults of strings, member names, depth and numbers, at most 100. In `value`, null replaces a string with a
   * fault.
   */
  readonly faults: readonly Fault[];
}

/**
 * Parses the bytes of a body as JSON.
 * @throws Problem 400 for invalid JSON, and for too many members or elements
 */
export function parseBody(bytes: Buffer): ParsedBody {
  const text = readAs(
    () => 'is not valid UTF-8',
    () => utf8.decode(bytes),
  );
  const size = jsonSize(text);
  requireSize(size);
  const { value, faults, members } = cleanJson(
    readAs(
      () => invalidJson(text),
      () => JSON.parse(text),
    ),
  );
  return { value, faults: [...faults, ...sourceFaults(text, size.members > members)].slice(0, maxFaults) };
}

/**
 * Returns the result of `read`.
 * @throws Problem 400 with the sentence of `describe` when `read` throws
 */
function readAs<T>(describe: () => string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const detail = describe();
    throw new Problem('invalid-request', `The body ${detail}.`, { errors: [{ pointer: '', detail }], cause });
  }
}

function requireSize(size: JsonSize): void {
  for (const part of ['members', 'elements'] as const) {
    if (size[part] <= maxSize[part]) continue;
    const detail = `must have at most ${maxSize[part]} ${part}; these are ${size[part]}`;
    throw new Problem('invalid-request', `The body ${detail}.`, { errors: [{ pointer: '', detail }] });
  }
}
