// One request id and one trace from the gateway to the e-mail: taken when they are well-formed, made otherwise.
import type { IncomingHttpHeaders } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { newId, random } from '../runtime/index.ts';

export interface RequestIdentity {
  readonly id: string;
  readonly traceparent: string;
}

const safeId = /^[A-Za-z0-9._~:/+=@-]{1,128}$/;
const wellFormedTrace = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The request id from `X-Request-Id` and this hop's `traceparent` (W3C Trace Context section 3.2) in the caller's trace. */
export function requestIdentity(headers: IncomingHttpHeaders): RequestIdentity {
  const id = headers['x-request-id'];
  const { traceparent } = headers;
  const [, trace, , flags] =
    typeof traceparent === 'string' && wellFormedTrace.test(traceparent) ? traceparent.split('-') : [];
  return {
    id: typeof id === 'string' && safeId.test(id) ? id : newId(),
    traceparent: `00-${trace ?? random(16).toString('hex')}-${random(8).toString('hex')}-${flags ?? '00'}`,
  };
}

/** The first step: every answer will name its request. */
export function identify(request: Request, response: Response, next: NextFunction): void {
  const identity = requestIdentity(request.headers);
  response.locals.identity = identity;
  next();
}

export function identityOf(response: Response): RequestIdentity {
  return response.locals.identity as RequestIdentity;
}
