// The gateway process: reads the environment, starts the plugin and the engine, and then opens the port.
import { createTokenVerifier } from '@shop/shared/auth';
import { type Environment, runProcess, StartError, toReason } from '@shop/shared/runtime';
import { readProcessSettings, startTelemetry } from '@shop/shared/telemetry';
import { addressNames, readEnvironment } from './config.ts';
import { startEngine } from './engine/engine.ts';
import { watchConfig } from './engine/reload.ts';
import { OpenStreams } from './limits/open-streams.ts';
import { openRateLimitStore } from './limits/rate-limit-store.ts';
import { createPlugin } from './plugin.ts';
import { listen } from './server/listen.ts';
import { settleMemory } from './server/memory.ts';
import { createGatewayServer } from './server/server.ts';

const readSettings = (environment: Environment) => readProcessSettings(environment, readEnvironment);

await runProcess('gateway', readSettings, async (life, { config, telemetry }) => {
  const { log } = life;
  await startTelemetry('gateway', life, telemetry, { edge: true });
  const { jwksUrl, issuer, audience, algorithm, configFolder } = config;
  offerToEngine(config);

  let draining = false;
  const verifier = createTokenVerifier({ jwksUrl, issuer, audience, algorithm, log });
  life.onStop('token verifier', () => verifier.close());
  const store = openRateLimitStore(config.redisUrl, log);
  life.onStop('rate limit store', () => store.close());
  const streams = new OpenStreams();
  const { mailFolder, mailKey, trustedProxies } = config;
  // After a proxy, every client seems to be on this machine.
  const hasMail = trustedProxies === 0 && mailFolder !== undefined && mailKey !== undefined;
  const plugin = createPlugin({
    folder: configFolder,
    verifier,
    store,
    streams,
    guard: config,
    draining: () => draining,
    board: config.board === 'on',
    storefront: config.storefront === 'on',
    metrics: config.metrics,
    emails: hasMail ? { folder: mailFolder, key: mailKey } : undefined,
    log,
  });
  life.onStop('upstreams', () => plugin.upstreams.close());
  const engine = await startEngine(configFolder, plugin).catch((error: unknown) => {
    throw new StartError(`the configuration in ${configFolder} is not valid: ${toReason(error)}`);
  });
  const server = createGatewayServer(plugin.withHelp(engine.handle), config, log);
  const port = await listen(server, config, life, () => {
    draining = true;
    streams.end();
  });
  const watch = watchConfig(configFolder, engine, log);
  life.onStop('configuration', () => watch.close());
  settleMemory();
  log.info({ host: config.host, port }, 'listening');
});

/**
 * Sets the variables to which gateway.config.yml refers, because a value may come from a file. A variable without a
 * value is removed, because the engine would use an empty value instead of the default.
 */
function offerToEngine(config: ReturnType<typeof readEnvironment>): void {
  for (const name of addressNames) {
    const value = config[name];
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}
