// GET /v1/changes/live: the changes that the caller sees, as server-sent events (HTML standard, section 9.2).
import { Problem } from '@shop/shared/problem';
import type { Context, Operation } from '../context.ts';
import { type ChangeFilter, toFilter, toKinds, toView } from '../feed/change.ts';
import type { FeedPosition } from '../feed/feed-cursors.ts';
import { openPosition } from '../feed/open-position.ts';

/** The largest number of changes that are read at once. */
const batch = 100;
/** Milliseconds between two checks of the caller's session. */
const checkEvery = 1_000;
/** Milliseconds without a change after which a comment shows that the connection works. */
const commentAfter = 15_000;

interface Follower {
  readonly context: Context;
  readonly filter: ChangeFilter;
  readonly signal: AbortSignal;
  /** Whether the token of the caller is still valid. */
  readonly isCallerValid: () => Promise<boolean>;
}

export const followChanges: Operation<'followChanges'> = async (request, context) => {
  const filter = toFilter(request.caller, toKinds(request.query.types));
  const lastId = request.headers['last-event-id'];
  const from =
    typeof lastId === 'string' && lastId !== ''
      ? { cursor: lastId, where: { header: 'Last-Event-ID' } }
      : { cursor: request.query.cursor ?? 'now', where: { parameter: 'cursor' } };
  const after = await openPosition(context.cursors, context.reader, from.cursor, from.where);
  return {
    status: 200,
    headers: { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
    stream: context.streams.count(
      follow({ context, filter, signal: request.signal, isCallerValid: () => request.isCallerValid() }, after),
    ),
  };
};

async function* follow(follower: Follower, start: FeedPosition | undefined): AsyncGenerator<string> {
  const { context, filter, signal, isCallerValid } = follower;
  const { reader, cursors } = context;
  // Clients that lost the connection at the same time connect again at different times.
  yield `retry: ${1_000 + Math.floor(Math.random() * 2_000)}\n\n`;
  let after = start;
  let quietSince = performance.now();
  while (!signal.aborted && !reader.closed) {
    if (!(await isCallerValid())) {
      yield event('end', {
        code: 'unauthenticated',
        detail: 'The access token is no longer valid. Connect with a new one.',
      });
      return;
    }
    const page = await reader.read(after, filter, batch).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'cursor-expired') return error;
      throw error;
    });
    if (page instanceof Problem) {
      // A browser does not tell its page the status of a response.
      after = await reader.now();
      yield event('reset', { code: page.code, detail: page.message }, cursors.seal(after));
      continue;
    }
    for (const change of page.changes) {
      yield event('change', toView(change), cursors.seal({ ...page.next, position: change.position }));
    }
    after = page.next;
    if (page.changes.length > 0) quietSince = performance.now();
    if (page.hasMore) continue;
    await reader.wait(after, checkEvery, signal);
    if (performance.now() - quietSince < commentAfter) continue;
    yield ':\n\n';
    quietSince = performance.now();
  }
}

/** Returns one event of the stream. */
function event(name: string, data: object, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
