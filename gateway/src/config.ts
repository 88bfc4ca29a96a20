// The gateway's environment as one typed, frozen object. Paths, pipelines and limits are in config/gateway.config.yml.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tokenVariables } from '@shop/shared/auth';
import {
  drain,
  type Environment,
  integer,
  oneOf,
  optional,
  readConfig,
  secret,
  string,
  url,
  type Variable,
  withoutPassword,
} from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import { anyLocalPort, type CorsOrigins } from './entry/cors.ts';

type AddressName = `${Uppercase<ServiceName>}_URL`;

/** The variables of the services' addresses, to which gateway.config.yml refers. */
export const addressNames = serviceNames.map((service) => `${service.toUpperCase()}_URL` as AddressName);
const addressVariables = Object.fromEntries(addressNames.map((name) => [name, optional(addresses(name))])) as Record<
  AddressName,
  Variable<string | undefined>
>;

/** @throws ConfigError that lists every missing or invalid variable */
export function readEnvironment(environment: Environment) {
  return readConfig(environment, {
    host: string('HOST', '0.0.0.0'),
    port: integer('GATEWAY_PORT', { min: 0, max: 65_535, fallback: 8080 }),
    ...addressVariables,
    ...tokenVariables,
    corsOrigins: optional(origins('CORS_ORIGINS')),
    board: oneOf('BOARD', ['on', 'off'], 'on'),
    storefront: oneOf('STOREFRONT', ['on', 'off'], 'off'),
    metrics: optional(metricsAddresses('METRICS_URLS')),
    mailFolder: optional(string('MAIL_PAGE_DIR')),
    mailKey: optional(secret('MAIL_PAGE_KEY')),
    redisUrl: optional(url('REDIS_URL', ['redis', 'rediss'])),
    trustedProxies: integer('TRUSTED_PROXIES', { min: 0, max: 10, fallback: 0 }),
    maximumConnections: integer('CONNECTION_LIMIT', { min: 1, max: 1_000_000, fallback: 10_000 }),
    maximumBody: integer('BODY_LIMIT', { min: 1_024, max: 2 ** 30, fallback: 100 * 1_024 }),
    maximumTarget: integer('URL_LIMIT', { min: 1_024, max: 65_536, fallback: 8 * 1_024 }),
    maximumHeader: integer('HEADER_LIMIT', { min: 1_024, max: 65_536, fallback: 16 * 1_024 }),
    deadline: integer('REQUEST_TIMEOUT_MS', { min: 100, max: 600_000, fallback: 10_000 }),
    drain,
    configFolder: configFolder('GATEWAY_CONFIG_DIR', fileURLToPath(new URL('../config', import.meta.url))),
  });
}

/** A folder with the two files of the engine's configuration. */
function configFolder(name: string, fallback: string): Variable<string> {
  const files = ['gateway.config.yml', 'system.config.yml'];
  return {
    name,
    fallback,
    parse(value) {
      if (files.every((file) => existsSync(join(value, file)))) return value;
      throw new Error(`must be a folder with ${files.join(' and ')}`);
    },
  };
}

/** Addresses of one service, separated by commas: `http://` with host and port, and no path. */
function addresses(name: string): Variable<string> {
  return {
    name,
    fallback: undefined,
    shown: withoutPassword,
    parse(value) {
      const list = value.split(',').map((address) => address.trim());
      for (const address of list) {
        const parsed = URL.canParse(address) ? new URL(address) : undefined;
        if (parsed?.protocol !== 'http:' || parsed.href !== `${parsed.origin}/`) {
          throw new Error('must be one or several addresses like http://host:port, separated by commas');
        }
      }
      return list.join(',');
    },
  };
}

/** Origins of pages, separated by commas, as browsers send them in `Origin`, or `http://localhost:*`; or `*` for all. */
function origins(name: string): Variable<CorsOrigins> {
  return {
    name,
    fallback: undefined,
    parse(value) {
      const list = value.split(',').map((origin) => origin.trim());
      if (list.length === 1 && list[0] === '*') return '*';
      if (list.every((origin) => origin === anyLocalPort || isOrigin(origin))) return new Set(list);
      throw new Error('must be *, or one or several origins like https://shop.example, separated by commas');
    },
  };
}

/**
 * Returns whether the string consists of scheme, host and port only, without a trailing slash, an upper-case letter or
 * a pattern.
 */
function isOrigin(text: string): boolean {
  const parsed = URL.canParse(text) && !text.includes('*') ? new URL(text) : undefined;
  return (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') && parsed.origin === text;
}

/**
 * Addresses of metrics by process, separated by commas: `orders=http://host:port/metrics`. A process may have several.
 * An entry `*=http://*:port/metrics` is expanded to one entry for each service, with the name of the service as `*`.
 */
function metricsAddresses(name: string): Variable<readonly (readonly [string, string])[]> {
  return {
    name,
    fallback: undefined,
    shown: () => undefined,
    parse(value) {
      const entries = value.split(',').flatMap((entry) => {
        const pattern = entry.trim().startsWith('*=');
        return pattern ? serviceNames.map((service) => entry.replaceAll('*', service)) : [entry];
      });
      return entries.map((entry) => {
        const [, process = '', address = ''] = /^\s*([a-z-]+)=(\S+)\s*$/.exec(entry) ?? [];
        if (!URL.canParse(address) || new URL(address).protocol !== 'http:') {
          throw new Error('must be a list like orders=http://host:port/metrics, separated by commas');
        }
        return [process, address] as const;
      });
    },
  };
}
