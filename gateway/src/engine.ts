// express-gateway's configuration and pipeline engine, and nothing else of it: the only file that knows the package.
import { createRequire } from 'node:module';
import { setImmediate } from 'node:timers/promises';
import EngineConfig from 'express-gateway/lib/config/config.js';
import registry from 'express-gateway/lib/policies/index.js';
import type { GatewayConfig } from '../plugin/entry/gateway-config.ts';
import type { Middleware } from '../plugin/entry/gateway-request.ts';
import type { GatewayPlugin } from '../plugin/index.ts';

export interface EngineRouter extends Middleware {
  use(middleware: Middleware): void;
}

export interface Engine {
  /** Runs a request through the guard and the pipeline that its path belongs to. */
  readonly handle: Middleware;
  /** Reads the configuration again. @throws when it does not hold; the pipelines in force stay. */
  reload(): Promise<void>;
}

// The engine brings its own express; its routers and the ones made here have to be of the same kind.
const require = createRequire(import.meta.url);
const requireLikeEngine = createRequire(require.resolve('express-gateway'));
const { Router } = requireLikeEngine('express') as { Router(): EngineRouter };

// The engine gives every request a context with a prototype of its own: a random id that nothing reads, and for V8 a new
// shape that only a full collection takes away. One prototype for all serves as well, and keeps those collections rare.
const contextFile = 'express-gateway/lib/gateway/context.js';
const base = new (require(contextFile) as new () => object)();
const loaded = require.cache[require.resolve(contextFile)];
if (loaded === undefined) throw new Error('the engine keeps its contexts elsewhere');
loaded.exports = function ContextBase() {
  return base;
};
const pipelines = require('express-gateway/lib/gateway/pipelines.js') as {
  bootstrap(options: { app: EngineRouter; config: EngineConfig }): Promise<EngineRouter>;
};

/**
 * Reads `system.config.yml` and `gateway.config.yml` of a folder and builds the pipelines.
 *
 * The engine's own start is not used: it logs and goes on when a plugin or a policy is missing, opens a server whose
 * limits cannot be set, and mounts a login middleware in front of everything.
 * @throws when a plugin, a policy or an endpoint that the configuration names does not exist, or a pipeline could reach a
 * service without authentication
 */
export async function startEngine(folder: string, plugin: GatewayPlugin): Promise<Engine> {
  process.env.EG_CONFIG_DIR = folder;
  const app = Router();
  const system = new EngineConfig();
  system.loadConfig('system');
  const wanted = Object.keys(system.systemConfig.plugins ?? {});
  if (wanted.length !== 1 || wanted[0] !== plugin.name) {
    throw new Error(`system.config.yml must name the plugin ${plugin.name} and no other`);
  }
  plugin.init({
    registerPolicy: (policy) => registry.register(policy),
    registerGatewayRoute: (route) => route(app),
  });
  let router = await buildPipelines(plugin);
  app.use((request, response, next) => router(request, response, next));
  return {
    handle: app,
    async reload() {
      router = await buildPipelines(plugin);
    },
  };
}

async function buildPipelines(plugin: GatewayPlugin): Promise<EngineRouter> {
  try {
    const config = new EngineConfig();
    config.loadConfig('gateway');
    checkPipelines(config.gatewayConfig);
    const router = await pipelines.bootstrap({ app: Router(), config });
    // The engine hangs the policies into their pipeline a few microtasks after it has returned the pipeline.
    await setImmediate();
    plugin.services.keepOpened();
    return router;
  } catch (error) {
    plugin.services.forgetOpened();
    throw error;
  }
}

/** What the engine's schema does not ask: nothing missing, nothing double, no way to a service around the checks. */
function checkPipelines({ apiEndpoints, policies, pipelines: all }: GatewayConfig): void {
  const unknown = policies.filter((name) => !Object.hasOwn(registry.policies, name));
  if (unknown.length > 0) throw new Error(`no such policy: ${unknown.join(', ')}`);
  const served = Object.values(all).flatMap((pipeline) => pipeline.apiEndpoints);
  for (const endpoint of Object.keys(apiEndpoints)) {
    const count = served.filter((name) => name === endpoint).length;
    if (count !== 1) throw new Error(`the endpoint ${endpoint} stands in ${count} pipelines instead of one`);
  }
  for (const [name, pipeline] of Object.entries(all)) {
    const order = pipeline.policies.flatMap((policy) => Object.keys(policy));
    const checked = order.indexOf('operation') < order.indexOf('authenticate') && order.includes('operation');
    if (order.includes('forward') && !(checked && order.indexOf('authenticate') < order.indexOf('forward'))) {
      throw new Error(`the pipeline ${name} must run operation and authenticate before forward`);
    }
    // It is limit that says whom authenticate refuses.
    if (order.includes('authenticate') && order[order.indexOf('authenticate') + 1] !== 'limit') {
      throw new Error(`the pipeline ${name} must run limit right after authenticate`);
    }
  }
}
