// The shop that is fuzzed: all processes of `npm start`, with limits that no run reaches.
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Node, readYaml } from '@shop/shared/contract';
import { startEmbeddedPostgres } from '@shop/shared/embedded';
import { launchShop, runningShop } from '../../../cli/test/started-shop.ts';
import type { GatewayConfig } from '../../../gateway/src/entry/gateway-config.ts';
import { publishedContracts } from '../../../gateway/src/published-contracts.ts';
import { publishedDocument } from '../../../web/src/docs/published-document.ts';
import { unlimitedConfig } from '../../gateway-config.ts';

export interface FuzzedShop {
  readonly url: string;
  readonly mailFolder: string;
  /** The connection of the accounts service's role, for what operators do. */
  readonly accountsDatabase: string;
  /** The public contract in a file, with closed responses: an undocumented member is a violation. */
  readonly contractFile: string;
  /** The logged lines that report an unexpected error, by process. */
  unexpectedErrors(): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts the shop in a temporary folder, and waits until it is ready. */
export async function startFuzzedShop(): Promise<FuzzedShop> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-fuzz-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const dataDir = join(folder, 'data');
  // No crash is injected, so its commits need not survive one.
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: false });
  const configDir = await unlimitedConfig(join(folder, 'config'));
  const shop = await launchShop({
    dataDir,
    environment: {
      DATABASE_URL: new URL('/shop', postgres.url).href,
      GATEWAY_CONFIG_DIR: configDir,
      // Requests have addresses of their own in X-Forwarded-For.
      TRUSTED_PROXIES: '1',
      // The tokens of e-mails are read from their links. Behind a proxy, the gateway has no pages for them.
      EMAIL_VERIFICATION_URL: 'https://shop.example/verify#token={token}',
      EMAIL_CHANGE_UNDO_URL: 'https://shop.example/undo#token={token}',
      PASSWORD_RESET_URL: 'https://shop.example/reset#token={token}',
      // A busy machine is not a fault of the shop.
      REQUEST_TIMEOUT_MS: '60000',
      // A line for each request would take a part of the processor time.
      LOG_LEVEL: 'warn',
      EMAILS_PER_HOUR: '1000000',
      PAYMENTS: 'required',
      PAYMENT_DUE_MINUTES: '1440',
      SELLER_NAME: 'Fuzzed Shop',
      SELLER_ADDRESS: 'Harbour Lane 1; 10115 Berlin',
    },
  });
  const stop = async (): Promise<void> => {
    await shop.end();
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await shop.ready;
    const contractFile = join(folder, 'shop.json');
    await writeFile(contractFile, JSON.stringify(closedContract(configDir)));
    const { databases } = await runningShop(dataDir);
    return {
      url: shop.gateway,
      mailFolder: join(dataDir, 'mail'),
      accountsDatabase: databases.accounts ?? '',
      contractFile,
      unexpectedErrors: () => unexpectedErrors(join(dataDir, 'logs')),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function closedContract(configDir: string): Node {
  const config = readYaml(join(configDir, 'gateway.config.yml')) as Pick<GatewayConfig, 'pipelines'>;
  return publishedDocument(publishedContracts(config, configDir), { closed: true });
}

/** Lines of level error and above (pino: 50), which a run without faults in the surroundings does not have. */
async function unexpectedErrors(logs: string): Promise<string[]> {
  // A process that has logged nothing has no file.
  const files = await readdir(logs);
  const found = await Promise.all(
    files.map(async (file) => {
      const lines = (await readFile(join(logs, file), 'utf8')).split('\n');
      return lines.filter((line) => /"level":(50|60|"error"|"fatal")/.test(line)).map((line) => `${file}: ${line}`);
    }),
  );
  return found.flat();
}
