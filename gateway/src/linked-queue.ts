// A first-in, first-out queue that any member can leave in constant time.

/** The entry of one member. It belongs to one queue and is reused each time the member joins it. */
export class QueueEntry<T> {
  readonly member: T;
  before: QueueEntry<T> | undefined = undefined;
  after: QueueEntry<T> | undefined = undefined;
  queued = false;

  constructor(member: T) {
    this.member = member;
  }
}

export class LinkedQueue<T> {
  #first: QueueEntry<T> | undefined;
  #last: QueueEntry<T> | undefined;

  /** The member that joined first. */
  get first(): T | undefined {
    return this.#first?.member;
  }

  /** Appends an entry that is not queued. */
  join(entry: QueueEntry<T>): void {
    entry.queued = true;
    entry.before = this.#last;
    if (this.#last === undefined) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
  }

  /** Removes an entry; does nothing when it is not queued. */
  leave(entry: QueueEntry<T>): void {
    if (!entry.queued) return;
    entry.queued = false;
    if (entry.before === undefined) this.#first = entry.after;
    else entry.before.after = entry.after;
    if (entry.after === undefined) this.#last = entry.before;
    else entry.after.before = entry.before;
    entry.before = undefined;
    entry.after = undefined;
  }
}
