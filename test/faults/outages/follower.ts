// A customer that follows the changes, over live updates that are cut at random places and page by page in turn.
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { Buyer } from './journal.ts';
import type { Random } from './random.ts';

interface Item {
  readonly id: string;
}

interface Page {
  readonly items: readonly Item[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export class Follower {
  readonly #gatewayUrl: string;
  readonly #admin: pg.Pool;
  readonly #buyer: Buyer;
  readonly #over = new AbortController();
  readonly #received: string[] = [];
  #following: Promise<void> = Promise.resolve();
  #cursor = 'now';
  #from = 0;
  /** Whether a failover of the database has ended all cursors. */
  #isExpired = false;

  constructor(gatewayUrl: string, admin: pg.Pool, buyer: Buyer) {
    this.#gatewayUrl = gatewayUrl;
    this.#admin = admin;
    this.#buyer = buyer;
  }

  /** Follows from the present position. */
  async start(random: Random): Promise<void> {
    const head = async (): Promise<number> =>
      Number((await this.#admin.query<{ head: string }>('SELECT head FROM changes.feed')).rows[0]?.head);
    do {
      this.#from = await head();
      this.#cursor = (await this.#read('cursor=now')).nextCursor;
    } while (this.#from !== (await head()));
    this.#following = this.#follow(random);
  }

  /** Reads the rest. @returns a violation when the customer did not get each change that it sees once, in order */
  async end(): Promise<string[]> {
    this.#over.abort();
    await this.#following;
    if (this.#isExpired) return [];
    while (await this.#turnPage());
    const { rows } = await this.#admin.query<{ id: string }>(
      `SELECT event_id AS id FROM changes.changes
       WHERE position > $1 AND (is_public OR account_id = $2) ORDER BY position`,
      [this.#from, this.#buyer.accountId],
    );
    const wanted = rows.map(({ id }) => id);
    const at = wanted.findIndex((id, index) => id !== this.#received[index]);
    if (at < 0 && wanted.length === this.#received.length) return [];
    return [
      `a follower got ${this.#received.length} changes instead of ${wanted.length}, the first other one is ${at}`,
    ];
  }

  async #follow(random: Random): Promise<void> {
    while (!this.#over.signal.aborted && !this.#isExpired) {
      try {
        if (random.integer(0, 3) === 0) await this.#turnPage();
        else await this.#listen(random.integer(50, 3_000));
      } catch {
        // The connection was cut, or the shop is not available.
        await pause(100);
      }
    }
  }

  async #listen(milliseconds: number): Promise<void> {
    const signal = AbortSignal.any([this.#over.signal, AbortSignal.timeout(milliseconds)]);
    const headers = { ...this.#headers(), 'Last-Event-ID': this.#cursor };
    const answer = await fetch(`${this.#gatewayUrl}/v1/changes/live`, { headers, signal });
    if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#take(block);
    }
  }

  #take(block: string): void {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    if (field('event') === 'reset') this.#isExpired = true;
    if (field('event') !== 'change') return;
    this.#received.push((JSON.parse(field('data') ?? '') as Item).id);
    this.#cursor = field('id') ?? '';
  }

  /** @returns whether there are further changes */
  async #turnPage(): Promise<boolean> {
    const { items, nextCursor, hasMore } = await this.#read(`cursor=${this.#cursor}&limit=20&wait=1`);
    this.#received.push(...items.map(({ id }) => id));
    this.#cursor = nextCursor;
    return hasMore;
  }

  async #read(query: string): Promise<Page> {
    const answer = await fetch(`${this.#gatewayUrl}/v1/changes?${query}`, { headers: this.#headers() });
    if (answer.status === 410) this.#isExpired = true;
    if (answer.status !== 200) throw new Error(`the feed answered ${answer.status}`);
    return (await answer.json()) as Page;
  }

  #headers(): Record<string, string> {
    return { Authorization: `Bearer ${this.#buyer.token}` };
  }
}
