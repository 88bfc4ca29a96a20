// Connects the shop with Stripe. README.md lists the settings.
import { setTimeout as sleep } from 'node:timers/promises';
import { createShop, isShopError } from '@shop/client';
import { type AsMachine, createAdapter } from './adapter.ts';
import { createPaymentServer } from './server.ts';
import { readSettings } from './settings.ts';
import { createStripe } from './stripe.ts';

const log = (text: string): void => console.log(`${new Date().toISOString()} ${text}`);

function start(): void {
  const settings = readSettings(process.env);
  const { shopUrl: baseUrl, lookBackDays } = settings;
  const provider = createStripe({
    secretKey: settings.stripeSecretKey,
    webhookSecret: settings.stripeWebhookSecret,
    apiBase: settings.stripeApiBase,
  });
  const asMachine = machineOf(baseUrl, { client_id: settings.shopClientId, client_secret: settings.shopClientSecret });
  const adapter = createAdapter({ asMachine, provider, lookBackDays, log });
  const server = createPaymentServer({ shop: createShop({ baseUrl }), adapter, provider, log });
  const end = new AbortController();
  server.listen(settings.port, () => log(`The adapter listens on port ${settings.port}.`));
  const jobs = [
    repeat('reconciliation', settings.reconcileSeconds, adapter.reconcile, end.signal),
    repeat('paying back', settings.payBackSeconds, adapter.payBackAll, end.signal),
  ];
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      end.abort();
      server.close();
      // A request to Stripe in progress ends first. A process that is killed pays nothing twice either.
      void Promise.all(jobs).then(() => process.exit());
    });
  }
}

/** Logs in before the first call, and again after a failed log-in and after the end of the session. */
function machineOf(baseUrl: string, credentials: { client_id: string; client_secret: string }): AsMachine {
  const shop = createShop({ baseUrl });
  let logIn: Promise<void> | undefined;
  return async (work) => {
    logIn ??= shop.logIn(credentials).catch((error: unknown) => {
      logIn = undefined;
      throw error;
    });
    await logIn;
    try {
      return await work(shop);
    } catch (error) {
      if (isShopError(error) && error.status === 401) logIn = undefined;
      throw error;
    }
  };
}

/** Runs work again and again, with a pause between two runs. After a failure the pause is at most a minute. */
async function repeat(name: string, seconds: number, work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const pause = await work().then(
      () => seconds,
      (error: Error) => {
        log(`The ${name} is repeated soon: ${error.message}`);
        return Math.min(seconds, 60);
      },
    );
    await sleep(pause * 1_000, undefined, { signal }).catch(() => {});
  }
}

try {
  start();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
