// How many lines a second `products import` takes: all new, all known and equal, all changed; and what an export writes.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { migrate, provisionDatabase, schemas } from '@shop/shared/database';
import { startEmbeddedPostgres } from '@shop/shared/embedded';
import { serviceFolder } from '@shop/shared/testing';

const header = 'externalKey,name,brand,category,price,stock,description\n';

/** `npm run bench -- import [--products 100000]` */
export default async function importing(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...options], options: { products: { type: 'string', default: '100000' } } });
  const count = Number(values.products);
  const folder = await mkdtemp(join(tmpdir(), 'shop-bench-'));
  await chmod(folder, 0o711); // run by root, PostgreSQL runs as another user, who must get through
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), durable: true });
  try {
    const roles = Object.fromEntries(schemas.map((name) => [name, 'bench'])) as Record<
      (typeof schemas)[number],
      string
    >;
    const urls = await provisionDatabase({ adminUrl: postgres.url, database: 'bench', roles });
    await migrate({ url: urls.catalogue, folder: `${serviceFolder('catalogue')}/migrations` });
    const [file, dearer, copy] = ['products.csv', 'dearer.csv', 'copy.ndjson'].map((name) => join(folder, name));
    if (file === undefined || dearer === undefined || copy === undefined) return;
    await writeFile(file, lines(count, 0));
    await writeFile(dearer, lines(count, 1));
    const run = async (what: string, script: string, ...parameters: string[]): Promise<void> => {
      const began = performance.now();
      await promisify(execFile)(process.execPath, [`${serviceFolder('catalogue')}/src/${script}.ts`, ...parameters], {
        env: { DATABASE_URL: urls.catalogue },
        maxBuffer: 2 ** 30,
      });
      const seconds = (performance.now() - began) / 1000;
      process.stdout.write(`${what.padEnd(16)} ${Math.round(count / seconds)} lines a second\n`);
    };
    const report = ['--refused', join(folder, 'refused')];
    await run('new products', 'import-products', file, ...report);
    await run('all as they are', 'import-products', file, ...report);
    await run('all changed', 'import-products', dearer, ...report);
    await run('export', 'export-products', copy);
  } finally {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Equal but for the price and the stock, which `more` is added to. */
function lines(count: number, more: number): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const price = ((index % 9_000) + 100 + more) / 100;
    const text = 'A plain thing that does what it says, "and nothing else at all".'.replaceAll('"', '""');
    return `K-${index},Thing ${index},Brand ${index % 200},Category ${index % 40},${price},${(index % 30) + more},"${text}"\n`;
  });
  return header + rows.join('');
}
