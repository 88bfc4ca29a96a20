// The counters of the limits: in this process, or in Redis so that several gateways count together.
import { type Log, toReason } from '@shop/shared/runtime';
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { type RememberedKeys, rememberInMemory, rememberInRedis } from './remembered-keys.ts';

export interface RateLimitStore {
  /** Returns a counter that allows `points` within `seconds` for each key. */
  counter(name: string, points: number, seconds: number): RateLimiterAbstract;
  /** Returns a set of keys, each of which is stored for `seconds`. */
  keys(name: string, seconds: number): RememberedKeys;
  close(): void;
}

// Milliseconds to wait for Redis. Counting a request must not take longer than the request itself.
const commandTimeout = 200;
const pingsBeforeDisconnect = 5;
const reconnectEvery = 1_000;

/** @param redisUrl the Redis that several gateways share; undefined: this process counts by itself */
export function openRateLimitStore(redisUrl: string | undefined, log: Log): RateLimitStore {
  return redisUrl === undefined ? memoryStore() : new RedisStore(redisUrl, log);
}

function memoryStore(): RateLimitStore {
  return {
    counter: memoize((name, points, seconds) => new RateLimiterMemory({ keyPrefix: name, points, duration: seconds })),
    keys: memoize((_name, seconds) => rememberInMemory(seconds)),
    close: () => {},
  };
}

/** Counts in Redis. While Redis is unavailable, this process counts by itself. */
class RedisStore implements RateLimitStore {
  readonly counter: RateLimitStore['counter'];
  readonly keys: RateLimitStore['keys'];
  readonly #redis: Redis;
  readonly #log: Log;
  #unavailable = false;
  #checking = false;

  constructor(url: string, log: Log) {
    this.#log = log;
    const redis = new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout,
      connectTimeout: reconnectEvery,
      disconnectTimeout: commandTimeout,
      retryStrategy: () => reconnectEvery,
    });
    redis.on('ready', () => {
      if (this.#unavailable) log.info('Redis is available again: requests are counted together again');
      this.#unavailable = false;
    });
    redis.on('error', (error: unknown) => this.#reportUnavailable(toReason(error)));
    this.#redis = redis;
    this.counter = memoize((name, points, seconds) => {
      const insuranceLimiter = new SubstituteLimiter(name, points, seconds, () => this.#checkConnection());
      const options = { keyPrefix: `shop:${name}`, points, duration: seconds, rejectIfRedisNotReady: true };
      return new RateLimiterRedis({ ...options, storeClient: redis, insuranceLimiter });
    });
    this.keys = memoize((name, seconds) => rememberInRedis(redis, name, seconds));
  }

  close(): void {
    this.#redis.disconnect();
  }

  /**
   * Replaces a connection on which Redis does not respond, so that no further request waits for it. Redis gets several
   * pings before that, because the delay may have been in this process.
   */
  async #checkConnection(): Promise<void> {
    if (this.#checking) return;
    this.#checking = true;
    let answered = false;
    for (let ping = 0; ping < pingsBeforeDisconnect && !answered && this.#redis.status === 'ready'; ping += 1) {
      answered = await this.#redis.ping().then(
        () => true,
        () => false,
      );
    }
    this.#checking = false;
    if (answered || this.#redis.status !== 'ready') return;
    this.#reportUnavailable('it does not answer');
    this.#redis.disconnect(true);
  }

  #reportUnavailable(reason: string): void {
    if (!this.#unavailable) this.#log.warn({ reason }, 'Redis is unavailable: this gateway counts requests alone');
    this.#unavailable = true;
  }
}

/** Counts in this process each request that Redis did not count. */
class SubstituteLimiter extends RateLimiterMemory {
  readonly #onUse: () => Promise<void>;

  constructor(name: string, points: number, seconds: number, onUse: () => Promise<void>) {
    super({ keyPrefix: name, points, duration: seconds });
    this.#onUse = onUse;
  }

  override consume(...question: Parameters<RateLimiterMemory['consume']>): ReturnType<RateLimiterMemory['consume']> {
    void this.#onUse();
    return super.consume(...question);
  }
}

/** Returns the same value for the same arguments, so that a reload of the configuration does not reset the counts. */
function memoize<Arguments extends readonly [string, ...number[]], T>(
  create: (...args: Arguments) => T,
): (...args: Arguments) => T {
  const created = new Map<string, T>();
  return (...args) => {
    const key = args.join(' ');
    const value = created.get(key) ?? create(...args);
    created.set(key, value);
    return value;
  };
}
