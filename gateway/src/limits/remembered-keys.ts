// Keys that are stored for a long time: in this process, or in Redis so that several gateways share them.
import type { Redis } from 'ioredis';

export interface RememberedKeys {
  /** Remembers a key. It never rejects: a key that cannot be stored is forgotten. */
  add(key: string): Promise<void>;
  /** Returns whether the key is stored; false also when Redis does not respond in time. */
  has(key: string): Promise<boolean>;
}

/** A key is a digest: this many of them take about 10 MB. */
const mostInMemory = 50_000;

/** Stores the most recently used keys. */
export function rememberInMemory(seconds: number): RememberedKeys {
  const ends = new Map<string, number>();
  return {
    async add(key) {
      ends.delete(key);
      ends.set(key, Date.now() + seconds * 1_000);
      const oldest = ends.size > mostInMemory ? ends.keys().next().value : undefined;
      if (oldest !== undefined) ends.delete(oldest);
    },
    async has(key) {
      const end = ends.get(key);
      if (end === undefined || end <= Date.now()) return false;
      ends.delete(key);
      ends.set(key, end);
      return true;
    },
  };
}

/** Remembers keys in memory, and in Redis for the other gateways. */
export function rememberInRedis(redis: Redis, name: string, seconds: number): RememberedKeys {
  const own = rememberInMemory(seconds);
  const inRedis = (key: string): string => `shop:${name}:${key}`;
  return {
    async add(key) {
      await own.add(key);
      await redis.set(inRedis(key), '1', 'EX', seconds).catch(() => {});
    },
    async has(key) {
      if (await own.has(key)) return true;
      return redis.get(inRedis(key)).then(
        (value) => value !== null,
        () => false,
      );
    },
  };
}
