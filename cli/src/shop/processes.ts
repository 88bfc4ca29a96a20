// The processes of the shop and their environments.
import { join } from 'node:path';
import { sampleAttributes } from '@shop/catalogue/operator/values';
import { freePorts } from '@shop/shared/embedded';
import { integer, isSet, memoryBounds, readConfig, string } from '@shop/shared/runtime';
import { type ServiceName, serviceNames } from '@shop/shared/shop';
import type { DataFolder } from './data-folder.ts';
import type { DatabaseUrls } from './database.ts';
import { root } from './root.ts';
import type { KeptSecrets } from './secrets.ts';
import type { Settings } from './settings.ts';

export type ProcessName = ServiceName | 'gateway';

export interface ShopProcess {
  readonly name: ProcessName;
  readonly script: string;
  /** The address at which it listens. Clients use the gateway's. */
  readonly url: string;
  /** The address of its metrics, on the loopback interface. */
  readonly metrics: string;
  readonly environment: NodeJS.ProcessEnv;
}

export interface Wiring {
  readonly settings: Settings;
  readonly folder: DataFolder;
  readonly secrets: KeptSecrets;
  readonly databases: DatabaseUrls;
  /** The variables that the operator has set. They take precedence over all defaults, except addresses and ports. */
  readonly given: NodeJS.ProcessEnv;
  /** The defaults of orders for the prices of the demo. */
  readonly demoPrices?: NodeJS.ProcessEnv;
}

/** Returns whether this machine reaches the gateway at a loopback address. */
function isReachableOnLoopback({ gatewayHost }: Settings): boolean {
  return ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(gatewayHost);
}

/** Returns the address at which this machine reaches the gateway. */
function gatewayAddress(settings: Settings): string {
  const { gatewayHost: host, gatewayPort: port } = settings;
  if (isReachableOnLoopback(settings)) return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns all processes, the gateway first, on free loopback ports. */
export async function shopProcesses(wiring: Wiring): Promise<ShopProcess[]> {
  const { settings, secrets, given } = wiring;
  const names = ['gateway', ...serviceNames] as const;
  // The ports of the services, followed by a port for the metrics of each process.
  const ports = await freePorts(serviceNames.length + names.length);
  const addressOf = (index: number): string => `http://127.0.0.1:${ports[index]}`;
  const metricsPort = (name: ProcessName): string => String(ports[serviceNames.length + names.indexOf(name)]);
  const metricsOf = (name: ProcessName): string => `http://127.0.0.1:${metricsPort(name)}/metrics`;
  const telemetry = (name: ProcessName) => ({ METRICS_HOST: '127.0.0.1', METRICS_PORT: metricsPort(name) });
  const gateway = gatewayAddress(settings);
  const common: NodeJS.ProcessEnv = {
    ...commonEnvironment(wiring),
    ...notGiven(given, {
      JWT_ISSUER: gateway,
      JWT_AUDIENCE: 'shop',
      JWKS_URL: `${addressOf(serviceNames.indexOf('accounts'))}/.well-known/jwks.json`,
      ...(hasMailPages(wiring) && linksOfEmails(gateway, given.STOREFRONT !== 'off')),
    }),
    ...Object.fromEntries(serviceNames.map((name, index) => [`${name.toUpperCase()}_URL`, addressOf(index)])),
  };
  const gatewayProcess: ShopProcess = {
    name: 'gateway',
    script: join(root, 'gateway/src/main.ts'),
    url: gateway,
    metrics: metricsOf('gateway'),
    environment: {
      // The pages of a storefront that is developed on this machine, such as those of Vite at port 5173.
      ...notGiven(given, { CORS_ORIGINS: 'http://localhost:*', STOREFRONT: 'on' }),
      ...common,
      ...telemetry('gateway'),
      METRICS_URLS: names.map((name) => `${name}=${metricsOf(name)}`).join(),
      MAIL_PAGE_DIR: mailFolder(wiring) ?? '',
      MAIL_PAGE_KEY: secrets.mailPageKey,
      HOST: settings.gatewayHost,
      GATEWAY_PORT: String(settings.gatewayPort),
    },
  };
  return [
    gatewayProcess,
    ...serviceNames.map((name, index) => ({
      name,
      script: join(root, 'services', name, 'src/main.ts'),
      url: addressOf(index),
      metrics: metricsOf(name),
      environment: {
        ...common,
        ...telemetry(name),
        ...serviceEnvironment(wiring, name),
        HOST: '127.0.0.1',
        PORT: String(ports[index]),
      },
    })),
  ];
}

/** Returns the folder to which the shop writes its e-mails; undefined when it sends them. */
export function mailFolder({ folder, given }: Wiring): string | undefined {
  return isSet(given, 'SMTP_URL') ? undefined : readConfig(given, { path: string('MAIL_DIR', folder.mail) }).path;
}

/**
 * Returns whether the gateway serves the pages of the e-mails. It does so on this machine only and without proxies,
 * which could forward the requests of other clients.
 */
export function hasMailPages(wiring: Wiring): boolean {
  const { proxies } = readConfig(wiring.given, {
    proxies: integer('TRUSTED_PROXIES', { min: 0, max: 10, fallback: 0 }),
  });
  return mailFolder(wiring) !== undefined && isReachableOnLoopback(wiring.settings) && proxies === 0;
}

/** Returns links to the pages for the tokens of e-mails: those of the storefront, or without it those of the gateway. */
function linksOfEmails(gateway: string, hasStorefront: boolean): NodeJS.ProcessEnv {
  const pages = hasStorefront ? gateway : `${gateway}/mail`;
  return {
    EMAIL_VERIFICATION_URL: `${pages}/verify-email#token={token}`,
    EMAIL_CHANGE_UNDO_URL: `${pages}/undo-email-change#token={token}`,
    PASSWORD_RESET_URL: `${pages}/${hasStorefront ? 'reset' : 'reset-password'}#token={token}`,
  };
}

/** Returns the environment in which the operator's functions of one service run. */
export function operatorEnvironment(wiring: Wiring, name: ServiceName): NodeJS.ProcessEnv {
  return { ...commonEnvironment(wiring), ...serviceEnvironment(wiring, name) };
}

function commonEnvironment({ folder, secrets, given }: Wiring): NodeJS.ProcessEnv {
  // The processes do not get the administrator's connection.
  const { DATABASE_URL, DATABASE_URL_FILE, EVENTS_URL, EVENTS_URL_FILE, ...passedOn } = given;
  return {
    NODE_COMPILE_CACHE: folder.compileCache,
    ...memoryBounds,
    ...notGiven(given, { MAIL_DIR: folder.mail, PRODUCT_ATTRIBUTES: sampleAttributes, ...secrets.variables }),
    ...passedOn,
  };
}

/**
 * Returns the defaults of variables that are set neither directly nor as a file. Otherwise a default would take
 * precedence over the file.
 */
function notGiven(given: NodeJS.ProcessEnv, defaults: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => !isSet(given, name)));
}

function serviceEnvironment(
  { settings, databases, given, demoPrices = {} }: Wiring,
  name: ServiceName,
): NodeJS.ProcessEnv {
  return {
    ...(name === 'orders' && notGiven(given, demoPrices)),
    DATABASE_URL: databases[name],
    EVENTS_URL: settings.eventsUrl ?? databases.events,
  };
}
