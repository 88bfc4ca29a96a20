// express-gateway's configuration reader and pipelines. No other file imports the package.
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import EngineConfig from 'express-gateway/lib/config/config.js';
import registry from 'express-gateway/lib/policies/index.js';
import type { GatewayConfig } from '../entry/gateway-config.ts';
import type { Middleware, Policy } from '../entry/policy.ts';
import type { UpstreamDirectory } from '../upstream/upstream.ts';
import { shareContextPrototype } from './engine-context.ts';

export interface EnginePlugin {
  /** The name in system.config.yml. */
  readonly name: string;
  readonly policies: readonly Policy[];
  /** Runs in front of every pipeline. */
  readonly middleware: readonly Middleware[];
  readonly upstreams: UpstreamDirectory;
}

export interface EngineRouter extends Middleware {
  use(middleware: Middleware): void;
}

export interface Engine {
  /** Runs a request through the guard and the pipeline that its path belongs to. */
  readonly handle: Middleware;
  /** Reads the configuration again. @throws when it is invalid; then the pipelines in force stay. */
  reload(): Promise<void>;
}

// The engine has its own express. Routers that are created here must be of the same kind.
const require = createRequire(import.meta.url);
const requireLikeEngine = createRequire(require.resolve('express-gateway'));
const { Router } = requireLikeEngine('express') as { Router(): EngineRouter };

shareContextPrototype(require);
const pipelines = require('express-gateway/lib/gateway/pipelines.js') as {
  bootstrap(options: { app: EngineRouter; config: EngineConfig }): Promise<EngineRouter>;
};

/**
 * Reads `system.config.yml` and `gateway.config.yml` of a folder and builds the pipelines.
 *
 * The engine's own start is not used: it ignores a missing plugin or policy, opens a server whose limits cannot be set,
 * and mounts a log-in middleware in front of every pipeline.
 * @throws when a plugin, a policy or an endpoint that the configuration names does not exist
 */
export async function startEngine(folder: string, plugin: EnginePlugin): Promise<Engine> {
  process.env.EG_CONFIG_DIR = folder;
  const app = Router();
  const system = new EngineConfig();
  system.loadConfig('system');
  const plugins = Object.keys(system.systemConfig.plugins ?? {});
  if (plugins.length !== 1 || plugins[0] !== plugin.name) {
    throw new Error(`system.config.yml must name the plugin ${plugin.name} and no other`);
  }
  for (const policy of plugin.policies) registry.register(policy);
  for (const middleware of plugin.middleware) app.use(middleware);
  let router = await buildPipelines(plugin);
  app.use((request, response, next) => router(request, response, next));
  return {
    handle: app,
    async reload() {
      router = await buildPipelines(plugin);
    },
  };
}

async function buildPipelines(plugin: EnginePlugin): Promise<EngineRouter> {
  try {
    const config = new EngineConfig();
    config.loadConfig('gateway');
    checkPipelines(config.gatewayConfig);
    const router = await pipelines.bootstrap({ app: Router(), config });
    // The engine adds the policies to their pipeline a few microtasks after it has returned the pipeline.
    await setImmediate();
    plugin.upstreams.keepOpened();
    return router;
  } catch (error) {
    plugin.upstreams.forgetOpened();
    throw error;
  }
}

/**
 * Checks rules that the engine's schema lacks: every policy exists, and every endpoint belongs to exactly one pipeline.
 */
function checkPipelines({ apiEndpoints, policies, pipelines: all }: GatewayConfig): void {
  const unknown = policies.filter((name) => !Object.hasOwn(registry.policies, name));
  if (unknown.length > 0) throw new Error(`no such policy: ${unknown.join(', ')}`);
  const served = Object.values(all).flatMap((pipeline) => pipeline.apiEndpoints);
  for (const endpoint of Object.keys(apiEndpoints)) {
    const count = served.filter((name) => name === endpoint).length;
    if (count !== 1) throw new Error(`the endpoint ${endpoint} is in ${count} pipelines instead of one`);
  }
}
