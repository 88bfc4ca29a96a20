// GET /v1/changes: the changes after a cursor that the caller sees. Waits for the first one when the request asks for it.
import type { Operation } from '../context.ts';
import { toFilter, toKinds, toView } from '../feed/change.ts';
import { openPosition } from '../feed/open-position.ts';

/** Milliseconds of a request that waiting leaves for its response. */
const reserve = 1_000;

export const listChanges: Operation<'listChanges'> = async (request, { reader, cursors }) => {
  const { limit = 20, wait = 0, cursor, types } = request.query;
  const began = performance.now();
  const left = Number(request.headers['request-timeout-ms'] ?? Number.POSITIVE_INFINITY) - reserve;
  const until = began + Math.min(wait * 1_000, left);
  const filter = toFilter(request.caller, toKinds(types));
  let after = await openPosition(cursors, reader, cursor, { parameter: 'cursor' });
  let page = await reader.read(after, filter, limit);
  while (page.changes.length === 0 && !reader.closed && !request.signal.aborted) {
    const remaining = until - performance.now();
    if (remaining <= 0) break;
    after = page.next;
    if (!page.hasMore) await reader.wait(after, remaining, request.signal);
    page = await reader.read(after, filter, limit);
  }
  const { changes, next, hasMore } = page;
  return { status: 200, body: { items: changes.map(toView), nextCursor: cursors.seal(next), hasMore } };
};
