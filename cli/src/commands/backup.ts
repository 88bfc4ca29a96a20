// `backup` copies the whole shop to a folder. `restore` copies it from there into a new shop.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartError, writeWhole } from '@shop/shared/runtime';
import { operatorCommand, readInstallation } from '@shop/shared/shop';
import { Command } from 'commander';
import { type Manifest, openArchive, secretsFile } from '../backup/archive.ts';
import { requireKnownMigrations, restoreBackup } from '../backup/restore-backup.ts';
import { takeBackup } from '../backup/take-backup.ts';
import { withTrialShop } from '../backup/trial.ts';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { type OpenShop, withNewShop, withShop } from '../shop/open-shop.ts';
import { operators } from '../shop/operators.ts';
import { operatorEnvironment } from '../shop/processes.ts';
import type { KeptSecrets } from '../shop/secrets.ts';
import { givenPath } from './arguments.ts';

export function backupCommand(): Command {
  return withJson(new Command('backup'))
    .argument('<folder>', 'the new folder; it contains personal data and secrets, and only you can read it')
    .action(async (given: string, output: Output) => {
      const folder = givenPath(given);
      const { manifest, secrets } = await withBar((update) =>
        withShop(
          async (shop) => ({
            manifest: await takeBackup(shop, folder, update),
            secrets: Object.keys(shop.secrets.variables).length > 0,
          }),
          // The backup before an upgrade must be in the schema that the previous release can restore.
          { migrate: false },
        ),
      );
      const report = { folder, takenAt: manifest.takenAt, ...sizeOf(manifest), secrets };
      print(output, report, () =>
        [
          `Backed up ${report.rows} rows of ${report.tables} tables, as they were at ${report.takenAt}, ` +
            `into ${folder}.`,
          secrets
            ? ''
            : 'No secrets are in it: this shop keeps none in its data folder. Keep those of its processes yourself.',
          // Only an installation with npm has the PostgreSQL in which a backup is tested.
          readInstallation(process.env) === 'npm'
            ? `Prove it: ${operatorCommand('shop', `restore --verify ${quoted(folder)}`)}`
            : '',
        ]
          .filter(Boolean)
          .join('\n'),
      );
    });
}

/** Quotes a word of a command for a POSIX shell. */
function quoted(word: string): string {
  return /^[\w./:@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

export function restoreCommand(): Command {
  return withJson(new Command('restore'))
    .argument('<folder>', 'folder of the backup')
    .option('--verify', 'only test the backup: restore it into a temporary database, which is deleted afterwards')
    .action(async (given: string, { verify = false, ...output }: Output & { verify?: boolean }) => {
      const folder = givenPath(given);
      const manifest = await openArchive(folder);
      await requireKnownMigrations(manifest);
      const variables = await secretsOf(folder);
      const restored = await withBar((onTable) =>
        verify
          ? withTrialShop(variables, async (shop) => {
              const toldAgain = await restoreBackup(shop.databases, folder, manifest, { onTable });
              return { toldAgain, ...(await prove(shop)) };
            })
          : withNewShop(variables, async (shop) => {
              const { roles, variables: all } = shop.secrets;
              const toldAgain = await restoreBackup(shop.databases, folder, manifest, {
                onTable,
                beforeCommit: () =>
                  writeWhole(shop.folder.secrets, JSON.stringify({ roles, variables: all }, null, 2), 0o600),
              });
              return { toldAgain, ...(await prove(shop)) };
            }),
      );
      const report = { folder, takenAt: manifest.takenAt, ...sizeOf(manifest), ...restored, verified: true };
      print(output, report, () => describe(report, verify));
    });
}

interface Proof {
  /** The number of products for which the stock was recomputed from the movements. */
  readonly products: number;
  readonly movements: number;
}

/** @throws StartError when the stock has faults, or the secret does not decrypt the signing keys */
async function prove(shop: OpenShop): Promise<Proof> {
  const [{ checkSigningKeys }, { verifyStock }] = await Promise.all([operators.accounts(), operators.catalogue()]);
  const { faults, products, movements } = await verifyStock(operatorEnvironment(shop, 'catalogue'));
  if (faults.length > 0) {
    throw new StartError(
      `the backup was restored as it is, but its stock does not add up: ${faults[0]?.detail}. ` +
        `Run: ${operatorCommand('shop', 'stock verify')}`,
    );
  }
  await checkSigningKeys(operatorEnvironment(shop, 'accounts'));
  return { products, movements };
}

async function secretsOf(folder: string): Promise<KeptSecrets['variables']> {
  const { variables } = JSON.parse(await readFile(join(folder, secretsFile), 'utf8')) as Pick<KeptSecrets, 'variables'>;
  return variables;
}

function sizeOf({ schemas }: Manifest): { tables: number; rows: number } {
  const tables = Object.values(schemas).flatMap((schema) => schema.tables);
  return { tables: tables.length, rows: tables.reduce((sum, { rows }) => sum + rows, 0) };
}

interface Report extends Proof {
  readonly takenAt: string;
  readonly tables: number;
  readonly rows: number;
  readonly toldAgain: number;
}

function describe(report: Report, verify: boolean): string {
  const { rows, tables, takenAt, products, movements, toldAgain } = report;
  return [
    `${verify ? 'Nothing would be lost' : 'Restored'}: ${rows} rows of ${tables} tables, ` +
      `as they were at ${takenAt}, were compared with the backup.`,
    `The stock of ${counted(products, 'product')} adds up with its ${counted(movements, 'movement')}, and the secrets open the signing keys.`,
    ...(verify
      ? []
      : [
          `${counted(toldAgain, 'event')} will be published again; consumers that have handled one ignore it. Now run ${operatorCommand('start')}.`,
        ]),
  ].join('\n');
}

async function withBar<T>(work: (update: (done: number, total: number) => void) => Promise<T>): Promise<T> {
  const bar = showProgress('tables');
  try {
    return await work(bar.update);
  } finally {
    bar.stop();
  }
}
