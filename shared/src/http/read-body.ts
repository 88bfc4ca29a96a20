// From the bytes of a request to a clean JSON value, or a problem that says what was wrong with them.
import express, { type Request, type Response } from 'express';
import { type Fault, Problem } from './problem.ts';
import { cleanJson } from './text.ts';

export const maxBodyBytes = 100 * 1024;

const rawBody = express.raw({ type: () => true, limit: maxBodyBytes, inflate: false });
const utf8 = new TextDecoder('utf-8', { fatal: true });

export interface BodyRule {
  readonly mediaTypes: readonly string[];
  readonly required: boolean;
  /** The header that tells which media types are taken: `Accept-Patch` (RFC 5789) or `Accept-Post`. */
  readonly acceptHeader: string;
}

/**
 * Reads the whole body as JSON.
 * @returns undefined when there is none and none is required
 * @throws Problem 400, 413 or 415
 */
export async function readBody(request: Request, response: Response, rule: BodyRule): Promise<unknown> {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (!hasBody) {
    if (!rule.required) return undefined;
    throw new Problem('invalid-request', 'The request needs a JSON body.', {
      errors: [{ pointer: '', detail: 'is required' }],
    });
  }
  checkMediaType(request, rule);
  const bytes = await new Promise<unknown>((resolve, reject) => {
    rawBody(request, response, (error?: unknown) =>
      error === undefined ? resolve(request.body) : reject(bodyProblem(error)),
    );
  });
  if (!Buffer.isBuffer(bytes) || (bytes.length === 0 && !rule.required)) return undefined;
  return parseJson(bytes);
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
      headers: { 'Accept-Encoding': 'identity' },
      errors: [{ header: 'Content-Encoding', detail: 'must be absent' }],
    });
  }
}

function bodyProblem(error: unknown): unknown {
  const type = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large') return new Problem('content-too-large', `A body has at most ${maxBodyBytes} bytes.`);
  if (type === 'request.size.invalid' || type === 'request.aborted') {
    return new Problem('invalid-request', 'The body ended before its announced length.', { cause: error });
  }
  return error;
}

function parseJson(bytes: Buffer): unknown {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const detail = error instanceof SyntaxError ? 'is not valid JSON' : 'is not valid UTF-8';
    throw new Problem('invalid-request', `The body ${detail}.`, { errors: [{ pointer: '', detail }], cause: error });
  }
  const faults: Fault[] = [];
  const clean = cleanJson(value, faults);
  if (faults.length > 0)
    throw new Problem('invalid-request', 'The body holds what cannot be taken.', { errors: faults });
  return clean;
}
