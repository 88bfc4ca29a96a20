// A running shop for tests: `npm start` in a temporary folder, or the shop at TEST_SHOP_URL with the data folder
// TEST_SHOP_DATA.
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launchShop, runShop } from '../cli/test/started-shop.ts';
import { configForRegistrations } from './gateway-config.ts';

export interface RunningShop {
  /** The address of the gateway. */
  readonly url: string;
  readonly dataDir: string;
  /** Grants scopes to an account with the command line. */
  grant(email: string, ...scopes: string[]): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a shop and waits until it is ready; takes up to a minute. */
export async function startShop(): Promise<RunningShop> {
  const { TEST_SHOP_URL: given = '', TEST_SHOP_DATA: data = '' } = process.env;
  if (given !== '') return { url: given, dataDir: data, grant: grantIn(data), stop: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), 'shop-running-'));
  // When root runs this, PostgreSQL runs as another user, which needs access to the files in the folder.
  await chmod(folder, 0o711);
  const GATEWAY_CONFIG_DIR = await configForRegistrations(join(folder, 'config'));
  const shop = await launchShop({
    dataDir: join(folder, 'data'),
    environment: { GATEWAY_CONFIG_DIR, STOREFRONT: 'off' },
  });
  const stop = async (): Promise<void> => {
    await shop.end();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await shop.ready;
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: shop.gateway, dataDir: shop.dataDir, grant: grantIn(shop.dataDir), stop };
}

function grantIn(dataDir: string): RunningShop['grant'] {
  return async (email, ...scopes) => {
    const { code, complaints } = await runShop(dataDir, 'staff', 'grant', email, ...scopes);
    if (code !== 0) throw new Error(complaints);
  };
}
