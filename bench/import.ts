// Measures how many lines a second `products import` and `products export` process. The imported lines are all new, all
// equal or all changed.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { exportProducts, importProducts } from '@shop/catalogue/operator';
import { withScratchDatabase } from './scratch-database.ts';

const header = 'externalKey,name,brand,category,price,stock,description\n';

/** `npm run bench -- import [--products 100000]` */
export default async function importing(options: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...options], options: { products: { type: 'string', default: '100000' } } });
  const count = Number(values.products);
  await withScratchDatabase('catalogue', async (url, folder) => {
    const [file, dearer, copy] = ['products.csv', 'dearer.csv', 'copy.ndjson'].map((name) => join(folder, name));
    if (file === undefined || dearer === undefined || copy === undefined) return;
    await writeFile(file, lines(count, 0));
    await writeFile(dearer, lines(count, 1));
    const environment = { DATABASE_URL: url };
    const measure = async (what: string, work: () => Promise<unknown>): Promise<void> => {
      const began = performance.now();
      await work();
      const seconds = (performance.now() - began) / 1000;
      process.stdout.write(`${what.padEnd(16)} ${Math.round(count / seconds)} lines a second\n`);
    };
    const importFile = (path: string) => importProducts(environment, { path, refused: join(folder, 'refused') });
    await measure('new products', () => importFile(file));
    await measure('all as they are', () => importFile(file));
    await measure('all changed', () => importFile(dearer));
    await measure('export', () => exportProducts(environment, { path: copy }));
  });
}

/** Equal lines except for the price and the stock, to which `more` is added. */
function lines(count: number, more: number): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const price = ((index % 9_000) + 100 + more) / 100;
    const text = 'A plain thing that does what it says, "and nothing else at all".'.replaceAll('"', '""');
    return (
      `K-${index},Thing ${index},Brand ${index % 200},Category ${index % 40},` +
      `${price},${(index % 30) + more},"${text}"\n`
    );
  });
  return header + rows.join('');
}
