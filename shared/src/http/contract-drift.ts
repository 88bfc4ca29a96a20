// Validates a fraction of the responses against the contract in production. Off by default.
import { gunzipSync } from 'node:zlib';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Contract } from '../contract/load-contract.ts';
import type { Log } from '../runtime/index.ts';
import { beginCounting, instruments } from '../telemetry/index.ts';
import { findRequestIdentity } from './request-identity.ts';

/**
 * Returns the middleware that records responses. It runs before all other steps. A response is validated after it was
 * sent. Drift is logged as a warning with the operation, the status and the deviation, but without the content of the
 * response.
 * @param share from 0 to 1
 */
export function watchForDrift(contract: Contract, share: number, log: Log): RequestHandler {
  // operationId → the number of validated responses, and the number of those that violate the contract.
  const counts = new Map<string, { checked: number; drifted: number }>();
  const operations = new Map(contract.operations.map((operation) => [operation.operationId, operation]));

  const none = contract.operations.map(({ operationId }) => ({ 'shop.operation': operationId }));
  beginCounting(instruments.answersChecked, none);
  beginCounting(instruments.answersDrifted, none);

  const look = (operationId: string, sent: Sent, requestId: string): void => {
    const operation = operations.get(operationId);
    if (operation === undefined) return;
    const count = counts.get(operationId) ?? { checked: 0, drifted: 0 };
    counts.set(operationId, count);
    count.checked += 1;
    const attributes = { 'shop.operation': operationId };
    instruments.answersChecked.add(1, attributes);
    let deviations: readonly string[];
    try {
      deviations = operation.checkAnswer(sent);
    } catch (error) {
      deviations = [`the answer cannot be checked: ${error instanceof Error ? error.name : 'unknown'}`];
    }
    if (deviations.length === 0) return;
    count.drifted += 1;
    instruments.answersDrifted.add(1, attributes);
    log.warn({ operationId, status: sent.status, deviations, requestId, ...count }, 'contract drift');
  };

  return (request: Request, response: Response, next: NextFunction) => {
    if (Math.random() < share) {
      const sent = recordSent(request, response);
      response.once('finish', () => {
        const { operationId, unrecorded } = response.locals;
        // A streamed response is too large to be recorded, and one from the cache could be recorded when it was read.
        if (unrecorded === true) return;
        // The validation runs after the response was sent, because it uses the only thread of the process.
        if (typeof operationId === 'string') setImmediate(look, operationId, sent(), findRequestIdentity(response).id);
      });
    }
    next();
  };
}

interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly withoutBody: boolean;
}

/** Records the argument of `end`. A response that is not streamed is sent in one call. */
function recordSent(request: Request, response: Response): () => Sent {
  let body: string | Buffer = '';
  let given: Readonly<Record<string, unknown>> = {};
  const { writeHead, end } = response;
  response.writeHead = ((status: number, headers: Readonly<Record<string, unknown>> = {}) => {
    given = headers;
    return writeHead.call(response, status, headers as never);
  }) as typeof response.writeHead;
  response.end = ((content: string | Buffer = '') => {
    body = content;
    return end.call(response, content, 'utf8');
  }) as typeof response.end;
  return () => ({
    status: response.statusCode,
    headers: Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), String(value)])),
    body: typeof body === 'string' ? body : gunzipSync(body).toString(),
    withoutBody: request.method === 'HEAD' || response.statusCode === 304,
  });
}
