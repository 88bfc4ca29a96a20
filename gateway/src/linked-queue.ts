// A first-in, first-out queue that any member can leave in constant time.

/** Where one member stands. It belongs to one queue and is used again each time the member joins it. */
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

  /** The member that joined before all others. */
  get first(): T | undefined {
    return this.#first?.member;
  }

  /** Puts a place that is not queued at the end. */
  join(place: QueueEntry<T>): void {
    place.queued = true;
    place.before = this.#last;
    if (this.#last === undefined) this.#first = place;
    else this.#last.after = place;
    this.#last = place;
  }

  /** Does nothing when the place is not queued. */
  leave(place: QueueEntry<T>): void {
    if (!place.queued) return;
    place.queued = false;
    if (place.before === undefined) this.#first = place.after;
    else place.before.after = place.after;
    if (place.after === undefined) this.#last = place.before;
    else place.after.before = place.before;
    place.before = undefined;
    place.after = undefined;
  }
}
