// Converts any error to a problem: a Problem stays, an unavailable database is a 503, any other error a 500 without
// details.
import { isDatabaseUnavailable } from '../database/index.ts';
import { Problem } from '../problem/index.ts';

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isDatabaseUnavailable(error)) {
    return new Problem('service-unavailable', 'The service is temporarily unavailable. Try again shortly.', {
      headers: { 'Retry-After': '1' },
      cause: error,
    });
  }
  if (error instanceof URIError) {
    return new Problem('invalid-request', 'The path is not valid percent-encoded UTF-8.', { cause: error });
  }
  return new Problem(
    'internal-error',
    'The request could not be completed. Tell us the request id if it happens again.',
    { cause: error },
  );
}
