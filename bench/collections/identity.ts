// The settings of the measured services that are the same in every benchmark.
import { cursorKey } from './stage.ts';

export const identity = {
  // The benchmark pages.ts measures cached pages.
  PAGE_CACHE_MB: '0',
  LOG_LEVEL: 'warn',
  HOST: '127.0.0.1',
  JWKS_URL: 'http://127.0.0.1:9/jwks.json',
  JWT_ISSUER: 'https://bench.test',
  JWT_AUDIENCE: 'shop',
  INTERNAL_SECRET: 'only-for-the-benchmark-only-for-the-benchmark',
  CURSOR_KEYS: cursorKey.toString('base64url'),
  ORDERS_URL: 'http://127.0.0.1:9',
  ACCOUNTS_URL: 'http://127.0.0.1:9',
  TRUSTED_PROXIES: '1',
};
