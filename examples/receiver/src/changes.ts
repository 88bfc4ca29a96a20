// What a receiver knows of each subject: which messages it has handled, and which version was the last.

/** A change of the shop: a CloudEvent. */
export interface Change {
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly sequence: string;
  /** The sequence of the change before it of the same subject. Absent on the first one. */
  readonly previoussequence?: string;
  /** The address at which the resource is read again. */
  readonly resource: string;
}

/**
 * `next`: the change follows the last one. `gap`: changes before it are missing, as after a replay or with `collapse`. `late`: a newer
 * change of the subject was handled before. `repeated`: this message was handled before.
 */
export type Verdict = 'next' | 'gap' | 'late' | 'repeated';

export class KnownChanges {
  readonly #handled = new Set<string>();
  readonly #newest = new Map<string, string>();

  /** Decides about a change, and remembers it. */
  add({ id, source, subject, sequence, previoussequence }: Change): Verdict {
    if (this.#handled.has(id)) return 'repeated';
    this.#handled.add(id);
    const key = `${source} ${subject}`;
    const known = this.#newest.get(key);
    // The texts have equal length, so they sort like their numbers.
    if (known !== undefined && sequence <= known) return 'late';
    this.#newest.set(key, sequence);
    return known === previoussequence ? 'next' : 'gap';
  }

  /** Forgets the subjects: the shop no longer has the changes that this receiver missed. */
  reset(): void {
    this.#newest.clear();
  }
}
