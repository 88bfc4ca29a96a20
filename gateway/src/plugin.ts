// The shop's plugin for express-gateway: the guard in front of every pipeline, the policy of the API, and those of the
// pages.

import { board } from '../../web/src/board/board.ts';
import type { MetricsAddresses } from '../../web/src/board/shop-figures.ts';
import { Traffic } from '../../web/src/board/traffic.ts';
import { docs } from '../../web/src/docs/docs.ts';
import { mail, type ShownEmails } from '../../web/src/mail/mail.ts';
import { problemPages } from '../../web/src/problems/problem-pages.ts';
import { type ApiOptions, api } from './api.ts';
import { guard } from './entry/guard.ts';
import type { Middleware, Policy } from './entry/policy.ts';
import { health } from './health.ts';
import { pageLimit } from './limits/rate-limit.ts';
import { openRateLimitStore } from './limits/rate-limit-store.ts';
import { observeUpstreams } from './upstream/measure-attempt.ts';
import { UpstreamDirectory } from './upstream/upstream.ts';

export interface PluginOptions extends Omit<ApiOptions, 'upstreams' | 'addresses'> {
  /** Whether the process is stopping. */
  readonly draining: () => boolean;
  /** Whether the board is shown, and where it reads the metrics of all processes. */
  readonly board: boolean;
  readonly metrics?: MetricsAddresses | undefined;
  /** The e-mails that are shown to clients on this machine; undefined for none. */
  readonly emails?: ShownEmails | undefined;
}

/** The part of the engine's plugin context that is used. */
export interface PluginContext {
  registerPolicy(policy: Policy): void;
  registerGatewayRoute(route: (app: { use(middleware: Middleware): void }) => void): void;
}

export interface GatewayPlugin {
  readonly name: string;
  readonly upstreams: UpstreamDirectory;
  /** The paths of the operations that are forwarded. */
  readonly addresses: ReadonlySet<string>;
  /** Registers the guard and every policy. */
  init(context: PluginContext): void;
}

/** Creates the plugin with its policies. */
export function createPlugin(options: PluginOptions): GatewayPlugin {
  const { folder, store, draining, emails, log } = options;
  const upstreams = new UpstreamDirectory(log);
  const addresses = new Set<string>();
  observeUpstreams(upstreams);
  const traffic = options.board ? new Traffic() : undefined;
  const policies = [
    api({ ...options, upstreams, addresses }),
    pageLimit(store),
    health(upstreams, draining, openRateLimitStore(undefined, log)),
    problemPages(),
    docs(folder),
    board({ ...options, upstreams, traffic }),
    mail(emails),
  ];
  return {
    name: 'shop',
    upstreams,
    addresses,
    init(context) {
      context.registerGatewayRoute((app) => app.use(guard(options.guard)));
      if (traffic !== undefined) context.registerGatewayRoute((app) => app.use(traffic.middleware));
      for (const policy of policies) context.registerPolicy(policy);
    },
  };
}
