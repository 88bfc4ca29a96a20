// Metrics of a batch of the outbox, and a span in the trace of each of its events.
import { beginCounting, instruments, type Span, SpanKind, startSpan, toTraceparent } from '../../telemetry/index.ts';
import type { StoredEvent } from '../event.ts';
import type { Outcome } from '../transport.ts';

export interface Batch {
  /** The rows to send. In a sampled trace, the consumer's spans become children of the span of sending. */
  readonly rows: readonly StoredEvent[];
  /** Records the outcome of each row. Without outcomes, every row counts as unknown. */
  end(outcomes?: readonly Outcome[]): void;
}

const outcomes: readonly Outcome[] = ['confirmed', 'unroutable', 'unknown'];

export function beginMeasuring(): void {
  beginCounting(instruments.relayBatches, [{}]);
  const none = outcomes.map((outcome) => ({ 'shop.outcome': outcome }));
  beginCounting(instruments.relayEvents, none);
}

/** Starts the measurement. Call it immediately before the rows are sent to the broker. */
export function measureBatch(claimed: readonly StoredEvent[]): Batch {
  const began = performance.now();
  const spans: (Span | undefined)[] = [];
  const rows = claimed.map((row) => {
    const about = { 'messaging.operation.type': 'send', 'messaging.message.id': row.id, 'shop.event.type': row.type };
    const span = startSpan(`send ${row.type}`, SpanKind.PRODUCER, about, row.traceparent);
    spans.push(span);
    return span === undefined ? row : { ...row, traceparent: toTraceparent(span) };
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
