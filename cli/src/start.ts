// `npm start`: runs the shop on this machine, with one process for each service, until Ctrl-C. `npm run dev` also
// restarts processes when their files change.
import { seedDemo } from '@shop/catalogue/operator';
import { seedDemoPrices } from '@shop/orders/operator';
import { ConfigError, StartError, toReason } from '@shop/shared/runtime';
import { banner } from './launcher/banner.ts';
import { embeddedServer } from './launcher/embedded-server.ts';
import { spawnProcess } from './launcher/spawn-process.ts';
import { type Supervised, supervise } from './launcher/supervise.ts';
import { watchSources } from './launcher/watch-sources.ts';
import { requireSettings } from './shop/check-settings.ts';
import { announce, type DataFolder, dataFolder, takeFolder } from './shop/data-folder.ts';
import { type DatabaseUrls, migrateAll, provision } from './shop/database.ts';
import { claimPort } from './shop/gateway-port.ts';
import {
  hasMailPages,
  mailFolder,
  operatorEnvironment,
  type ShopProcess,
  shopProcesses,
  type Wiring,
} from './shop/processes.ts';
import { root } from './shop/root.ts';
import { type KeptSecrets, keptSecrets } from './shop/secrets.ts';
import { givenEnvironment, readSettings, type Settings } from './shop/settings.ts';

const unknown = process.argv.slice(2).filter((argument) => argument !== '--watch');
const watching = process.argv.includes('--watch');

/** Milliseconds to wait until the processes of a killed launcher have exited. */
const orphansGoWithin = 15_000;

// The shop continues when its output is closed, as after `npm start | head`. Ctrl-C still stops it in order.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});

const say = (name: string, line: string): void => {
  process.stdout.write(`${name}: ${line}\n`);
};

/** Says what the start does next. */
const step = (text: string): void => say('start', text);

/** Whether the shop is ready. Until then, warnings about unavailable processes appear only in the logs. */
let settled = false;

const sayOnceSettled = (name: string) => (line: string) => {
  if (settled) say(name, line);
};

/** The functions that undo each step of the start; they run in reverse order. */
const stops: (() => Promise<void>)[] = [];

let stopping: Promise<never> | undefined;

function stop(code: number): Promise<never> {
  stopping ??= (async () => {
    if (settled) process.stdout.write('Stopping.\n');
    for (let undo = stops.pop(); undo !== undefined; undo = stops.pop())
      await undo().catch((error: unknown) => say('stop', toReason(error)));
    process.exit(code);
  })();
  return stopping;
}

async function start(): Promise<void> {
  if (unknown.length > 0)
    throw new StartError(`npm start and npm run dev take no arguments, and got: ${unknown.join(' ')}`);
  const began = performance.now();
  const given = givenEnvironment();
  await requireSettings(given);
  const settings = readSettings(given);
  const folder = dataFolder(settings.dataDir);
  const { release, abandoned } = await takeFolder(folder);
  stops.push(release);
  await claimPort(settings.gatewayHost, settings.gatewayPort, abandoned ? orphansGoWithin : 0);
  const secrets = await keptSecrets(folder.secrets);
  const databases = await prepareDatabase(settings, folder, secrets);

  const found: Wiring = { settings, folder, secrets, databases, given };
  const wiring: Wiring = { ...found, demoPrices: await seedDemoPrices(operatorEnvironment(found, 'orders')) };
  const processes = await shopProcesses(wiring);
  step(`${processes.map(({ name }) => name).join(', ')} start`);
  const parts = startProcesses(processes, folder);
  await Promise.all([seedDemo(operatorEnvironment(wiring, 'catalogue')), ...parts.map((part) => part.ready)]);

  settled = true;
  await announceShop(wiring, processes, began);
  if (watching) restartChanged(processes, parts);
}

/** Starts the embedded PostgreSQL unless DATABASE_URL is set, and migrates the schemas. */
async function prepareDatabase(settings: Settings, folder: DataFolder, secrets: KeptSecrets): Promise<DatabaseUrls> {
  let adminUrl = settings.databaseUrl;
  if (adminUrl === undefined) {
    step('PostgreSQL starts');
    const server = await embeddedServer(folder.postgres, {
      gone(message) {
        process.stderr.write(`${message}\n`);
        void stop(1);
      },
    });
    const part = supervise(server.launch, (line) => say('postgresql', line));
    stops.push(part.stop);
    await part.ready;
    adminUrl = await server.url();
  }
  step('the schemas are brought up to date');
  const databases = await provision(adminUrl, secrets, settings.databaseUrl !== undefined);
  await migrateAll(databases);
  return databases;
}

function startProcesses(processes: readonly ShopProcess[], folder: DataFolder): Supervised[] {
  const common = { cwd: root, logs: folder.logs };
  const parts = processes.map(({ name, script, url, environment }) => {
    const says = { say: sayOnceSettled(name), sayWaiting: (line: string) => say(name, line) };
    const launch = () => spawnProcess({ ...common, name, script, url, environment, ...says });
    return supervise(launch, (line) => say(name, line));
  });
  // The gateway stops first, so that no new requests arrive while the services finish theirs.
  const [gateway, ...others] = parts;
  stops.push(async () => void (await Promise.all(others.map((part) => part.stop()))));
  stops.push(async () => gateway?.stop());
  return parts;
}

/** Announces the shop to the command line, and prints the summary. */
async function announceShop(wiring: Wiring, processes: readonly ShopProcess[], began: number): Promise<void> {
  const { settings, folder, secrets, databases } = wiring;
  const places = processes.map(({ name, url }) => [name, url] as const);
  const [[, address]] = places as [readonly [string, string]];
  await announce(folder, {
    gateway: address,
    processes: Object.fromEntries(places),
    metrics: Object.fromEntries(processes.map(({ name, metrics }) => [name, metrics])),
    databases,
    eventsUrl: settings.eventsUrl ?? databases.events,
  });
  const { host, pathname } = new URL(databases.orders);
  process.stdout.write(
    banner({
      gateway: address,
      places: [...places, ['postgresql', `${host}, database ${decodeURIComponent(pathname.slice(1))}`]],
      data: folder.path,
      mail: mailFolder(wiring),
      mailPages: hasMailPages(wiring) ? `${address}/mail?key=${secrets.mailPageKey}` : undefined,
      logs: folder.logs,
      productId: await someProduct(address),
      hasStorefront: wiring.given.STOREFRONT !== 'off',
      hasBoard: wiring.given.BOARD !== 'off',
      seconds: (performance.now() - began) / 1000,
    }),
  );
}

/** Restarts a process when one of its source files changes. */
function restartChanged(processes: readonly ShopProcess[], parts: readonly Supervised[]): void {
  const stopWatching = watchSources(root, (files, names) => {
    const [first, ...more] = files;
    say(names.join(', '), `restarting: ${first}${more.length === 0 ? '' : ` and ${more.length} more`} changed`);
    for (const [index, { name }] of processes.entries()) if (names.includes(name)) void parts[index]?.restart();
  });
  stops.push(async () => stopWatching());
  process.stdout.write('Watching the source files. A changed migration needs a new start.\n');
}

/** Returns the id of an available product, for the example. */
async function someProduct(gateway: string): Promise<string | undefined> {
  const answer = await fetch(`${gateway}/v1/products?inStock=true&limit=1`);
  const page = (await answer.json()) as { items?: { id: string }[] };
  return page.items?.[0]?.id;
}

/** Stops the shop when npm is killed, because npm then cannot pass a signal on. */
function stopWithNpm(): void {
  const parent = process.ppid;
  setInterval(() => process.ppid === parent || void stop(0), 1_000).unref();
}

if (['start', 'dev'].includes(process.env.npm_lifecycle_event ?? '')) stopWithNpm();
// The process that started the shop with an IPC channel has ended.
process.once('disconnect', () => void stop(0));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop(0));
try {
  await start();
} catch (error) {
  // While stopping, the steps of the start that are in progress are expected to fail.
  if (stopping === undefined) {
    const known = error instanceof ConfigError || error instanceof StartError;
    process.stderr.write(`${known ? error.message : `cannot start: ${toReason(error)}`}\n`);
  }
  await stop(1);
}
