// What is told of a batch of the outbox: how it went, how old its events were, and a span in the trace of each of them.
import { beginCounting, instruments, type Span, SpanKind, startSpan, traceparentOf } from '../telemetry/index.ts';
import type { StoredEvent } from './event.ts';
import type { Outcome } from './transport.ts';

export interface Batch {
  /** The rows as they go out: in a trace that is recorded, what the consumer does hangs below the sending. */
  readonly rows: readonly StoredEvent[];
  /** Tells what became of each row; without outcomes, of none is anything known. */
  end(outcomes?: readonly Outcome[]): void;
}

const outcomes: readonly Outcome[] = ['confirmed', 'unroutable', 'unknown'];

export function beginMeasuring(): void {
  beginCounting(instruments.relayBatches, [{}]);
  const none = outcomes.map((outcome) => ({ 'shop.outcome': outcome }));
  beginCounting(instruments.relayEvents, none);
}

/** Comes right before the rows are handed to the broker. */
export function measureBatch(claimed: readonly StoredEvent[]): Batch {
  const began = performance.now();
  const spans: (Span | undefined)[] = [];
  const rows = claimed.map((row) => {
    const about = { 'messaging.operation.type': 'send', 'messaging.message.id': row.id, 'shop.event.type': row.type };
    const span = startSpan(`send ${row.type}`, SpanKind.PRODUCER, about, row.traceparent);
    spans.push(span);
    return span === undefined ? row : { ...row, traceparent: traceparentOf(span) };
  });
  return {
    rows,
    end(outcomes) {
      const sent = { 'messaging.operation.name': 'publish', 'messaging.operation.type': 'send' };
      instruments.published.record((performance.now() - began) / 1000, sent);
      instruments.relayBatches.add(1);
      const now = Date.now();
      for (const [index, { createdAt }] of rows.entries()) {
        const outcome = outcomes?.[index] ?? 'unknown';
        instruments.relayEvents.add(1, { 'shop.outcome': outcome });
        if (outcome === 'confirmed') instruments.outboxDelay.record(Math.max(0, now - createdAt.getTime()) / 1000);
        spans[index]?.setAttribute('shop.outcome', outcome).end();
      }
    },
  };
}
