// The shop's plugin for express-gateway: one guard in front of everything, and one policy per file.
import type { TokenVerifier } from '@shop/shared/auth';
import type { Log } from '@shop/shared/runtime';
import { authenticate } from './entry/authenticate.ts';
import type { Middleware, Policy } from './entry/gateway-request.ts';
import { type GuardOptions, guard } from './entry/guard.ts';
import { operation } from './entry/match-operation.ts';
import { limit } from './limits/rate-limit.ts';
import { openRateLimitStore, type RateLimitStore } from './limits/rate-limit-store.ts';
import { board } from './pages/board/board.ts';
import type { MetricsAddresses } from './pages/board/shop-metrics.ts';
import { Traffic } from './pages/board/traffic.ts';
import { docs } from './pages/docs/docs.ts';
import { health } from './pages/health.ts';
import { problemPages } from './pages/problems/problem-pages.ts';
import { forward } from './upstream/forward.ts';
import { observeUpstreams } from './upstream/measure-attempt.ts';
import { UpstreamDirectory } from './upstream/upstream.ts';

export interface PluginOptions {
  /** The configuration folder; contracts are named relative to it. */
  readonly folder: string;
  readonly verifier: TokenVerifier;
  readonly counters: RateLimitStore;
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
  readonly services: UpstreamDirectory;
  init(context: PluginContext): void;
}

/** The plugin, wired. `init` registers the guard and every policy. */
export function createPlugin(options: PluginOptions): GatewayPlugin {
  const services = new UpstreamDirectory(options.log);
  observeUpstreams(services);
  const known = new Set<string>();
  const traffic = options.board ? new Traffic() : undefined;
  const policies = [
    operation(options.folder, known),
    authenticate(options.verifier),
    limit(options.counters, options.guard.maximumBody, known),
    forward(services, options.guard, options.log),
    health(services, options.draining, openRateLimitStore(undefined, options.log)),
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
