// The maximum age of a replica's data, computed from positions in the write-ahead log and the clock of this process.
import type pg from 'pg';

/** The part of a pool or a connection that a read needs. */
export type Queryable = Pick<pg.Pool, 'query'>;

/**
 * A recorded position. All data that was committed on the primary before `at` (by the clock of `performance.now()`) is
 * before `position`.
 */
interface Mark {
  readonly at: number;
  readonly position: bigint;
}

const primaryPosition = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS position";
// NULL on a promoted server, because its history may differ from that of the primary.
const replicaPosition = `SELECT CASE WHEN pg_is_in_recovery()
  THEN pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::text END AS position`;

/**
 * Measures the lag of a replica. A replica that has replayed the log up to a recorded position has at least the data
 * from its time. This depends neither on the clocks of the servers nor on writes: an idle primary stays at its
 * position.
 */
export class ReplicaLag {
  readonly #maximum: number;
  #marks: readonly Mark[] = [];
  readonly #asOf = new WeakMap<Queryable, number>();

  /** @param maximum in milliseconds; several positions have to be recorded within this time */
  constructor(maximum: number) {
    this.#maximum = maximum;
  }

  /** Queries the primary for its position. */
  async mark(primary: Queryable): Promise<void> {
    const at = performance.now();
    const position = await positionOf(primary, primaryPosition);
    if (position === undefined) return;
    this.#marks = [...this.#marks.filter((mark) => mark.at >= at - this.#maximum), { at, position }];
  }

  /**
   * Returns whether the last check of this connection to a replica is still valid. It stays valid because a replica
   * never goes back.
   */
  isRecent(replica: Queryable): boolean {
    return performance.now() - (this.#asOf.get(replica) ?? Number.NEGATIVE_INFINITY) <= this.#maximum;
  }

  /**
   * Queries the position of the server of a connection.
   * @throws Error with the reason when its data may be too old
   */
  async measure(replica: Queryable): Promise<void> {
    const position = await positionOf(replica, replicaPosition);
    if (position === undefined) throw new Error('it is no replica');
    const reached = this.#marks.findLast((mark) => mark.position <= position);
    if (reached !== undefined) this.#asOf.set(replica, reached.at);
    if (!this.isRecent(replica)) throw new Error(`it may be more than ${this.#maximum} ms behind the primary`);
  }
}

async function positionOf(server: Queryable, statement: string): Promise<bigint | undefined> {
  const { rows } = await server.query<{ position: string | null }>(statement);
  const position = rows[0]?.position;
  return typeof position === 'string' ? BigInt(position) : undefined;
}
