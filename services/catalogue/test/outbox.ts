// The events that the catalogue wrote about a product.
import type { TestServices } from '@shop/shared/testing';

export interface WrittenEvent {
  readonly type: string;
  readonly sequence: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The events about a product in the order of their sequence. */
export async function eventsAbout(services: TestServices, productId: string): Promise<WrittenEvent[]> {
  const { rows } = await services
    .service('catalogue')
    .database.query<WrittenEvent>(
      'SELECT type, sequence::int AS sequence, data FROM outbox WHERE subject = $1 ORDER BY sequence, id',
      [productId],
    );
  return rows;
}

/** The events about a product, each as its type and its members about the stock. */
export async function stockEventsAbout(services: TestServices, productId: string): Promise<string[]> {
  const events = await eventsAbout(services, productId);
  return events
    .filter(({ type }) => type.startsWith('stock.'))
    .map(({ type, data }) =>
      type === 'stock.low.v1' ? `low ${data.available}` : data.inStock ? 'in stock' : 'sold out',
    );
}

/** The previous sequences of the events about a product, in the order of their sequence. */
export async function predecessorsOf(services: TestServices, productId: string): Promise<(number | null)[]> {
  const { rows } = await services
    .service('catalogue')
    .database.query<{ previous: number | null }>(
      'SELECT previous_sequence::int AS previous FROM outbox WHERE subject = $1 ORDER BY sequence, id',
      [productId],
    );
  return rows.map(({ previous }) => previous);
}
