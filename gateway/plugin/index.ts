// The shop's plugin for express-gateway: one guard in front of everything, and one policy per file.
import type { TokenVerifier } from '@shop/shared/auth';
import type { Log } from '@shop/shared/runtime';
import type { MetricsAddresses } from '../board/figures.ts';
import { Traffic } from '../board/traffic.ts';
import { authenticate } from './authenticate.ts';
import { board } from './board.ts';
import { type Counters, openCounters } from './counters.ts';
import { docs } from './docs.ts';
import type { Middleware, Policy } from './exchange.ts';
import { forward } from './forward.ts';
import { type GuardOptions, guard } from './guard.ts';
import { health } from './health.ts';
import { limit } from './limit.ts';
import { observeServices } from './measure.ts';
import { operation } from './operation.ts';
import { problemPages } from './problem-pages.ts';
import { ServiceDirectory } from './service.ts';

export interface PluginOptions {
  /** The configuration folder; contracts are named relative to it. */
  readonly folder: string;
  readonly verifier: TokenVerifier;
  readonly counters: Counters;
  readonly guard: GuardOptions;
  readonly draining: () => boolean;
  /** Whether operators may look at the board, and where it finds the metrics of all processes. */
  readonly board: boolean;
  readonly metrics?: MetricsAddresses | undefined;
  readonly log: Log;
}

/** The part of the engine's plugin context that is used. */
export interface PluginContext {
  registerPolicy(policy: Policy): void;
  registerGatewayRoute(route: (app: { use(middleware: Middleware): void }) => void): void;
}

export interface GatewayPlugin {
  readonly name: string;
  readonly services: ServiceDirectory;
  init(context: PluginContext): void;
}

/** The plugin, wired. `init` registers the guard and every policy. */
export function createPlugin(options: PluginOptions): GatewayPlugin {
  const services = new ServiceDirectory(options.log);
  observeServices(services);
  const known = new Set<string>();
  const traffic = options.board ? new Traffic() : undefined;
  const policies = [
    operation(options.folder, known),
    authenticate(options.verifier),
    limit(options.counters, options.guard.maximumBody, known),
    forward(services, options.guard, options.log),
    health(services, options.draining, openCounters(undefined, options.log)),
    problemPages(),
    docs(options.folder),
    board(services, traffic, options.draining, options.metrics),
  ];
  return {
    name: 'shop',
    services,
    init(context) {
      context.registerGatewayRoute((app) => app.use(guard(options.guard)));
      if (traffic !== undefined) context.registerGatewayRoute((app) => app.use(traffic.middleware));
      for (const policy of policies) context.registerPolicy(policy);
    },
  };
}
