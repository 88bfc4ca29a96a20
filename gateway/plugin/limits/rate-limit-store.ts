// Where requests are counted: in this process, or in Redis so that several gateways count together.
import type { Log } from '@shop/shared/runtime';
import { Redis } from 'ioredis';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { type RememberedKeys, rememberInMemory, rememberInRedis } from './remembered-keys.ts';

export interface RateLimitStore {
  /** A counter that allows `points` within `seconds` for each key. */
  counter(name: string, points: number, seconds: number): RateLimiterAbstract;
  /** Keys that are each remembered for `seconds`. */
  keys(name: string, seconds: number): RememberedKeys;
  close(): void;
}

// A request must not wait longer for its number than it would take to answer it.
const answerWithin = 200;
const asksBeforeHangUp = 5;
const reconnectEvery = 1_000;

/** @param redisUrl shared counting; undefined: each process counts for itself */
export function openRateLimitStore(redisUrl: string | undefined, log: Log): RateLimitStore {
  if (redisUrl === undefined) {
    return {
      counter: remember(memoryCounter),
      keys: remember((_name, seconds) => rememberInMemory(seconds)),
      close: () => {},
    };
  }
  const redis = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: answerWithin,
    connectTimeout: reconnectEvery,
    disconnectTimeout: answerWithin,
    retryStrategy: () => reconnectEvery,
  });
  let alone = false;
  redis.on('ready', () => {
    if (alone) log.info('Redis is back: requests are counted together again');
    alone = false;
  });
  const away = (reason: string): void => {
    if (!alone) log.warn({ reason }, 'Redis is away: this gateway counts requests alone');
    alone = true;
  };
  redis.on('error', (error: Error) => away(error.message));
  // A Redis that hangs is as good as away, and no request waits for it until it has answered on a new connection. It is asked
  // several times before: it may have been this process that was late.
  let doubted = false;
  const doubt = async (): Promise<void> => {
    if (doubted) return;
    doubted = true;
    let answered = false;
    for (let asked = 0; asked < asksBeforeHangUp && !answered && redis.status === 'ready'; asked += 1) {
      answered = await redis.ping().then(
        () => true,
        () => false,
      );
    }
    doubted = false;
    if (answered || redis.status !== 'ready') return;
    away('it does not answer');
    redis.disconnect(true);
  };
  return {
    counter: remember(
      (name, points, seconds) =>
        new RateLimiterRedis({
          storeClient: redis,
          keyPrefix: `shop:${name}`,
          points,
          duration: seconds,
          rejectIfRedisNotReady: true,
          insuranceLimiter: new StandIn(name, points, seconds, doubt),
        }),
    ),
    keys: remember((name, seconds) => rememberInRedis(redis, name, seconds)),
    close: () => redis.disconnect(),
  };
}

/** Counts in this process what Redis did not. */
class StandIn extends RateLimiterMemory {
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

/** Returns the same value for the same question, so that a reload of the configuration forgets no count. */
function remember<Question extends readonly [string, ...number[]], T>(
  create: (...question: Question) => T,
): (...question: Question) => T {
  const known = new Map<string, T>();
  return (...question) => {
    const key = question.join(' ');
    const value = known.get(key) ?? create(...question);
    known.set(key, value);
    return value;
  };
}

function memoryCounter(name: string, points: number, seconds: number): RateLimiterMemory {
  return new RateLimiterMemory({ keyPrefix: name, points, duration: seconds });
}
