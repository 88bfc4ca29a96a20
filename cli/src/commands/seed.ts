// `seed`: adds realistic sample products.
import { Command, InvalidArgumentError } from 'commander';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { withOperator } from '../shop/operators.ts';

const most = 50_000_000;

export function seedCommand(): Command {
  return withJson(new Command('seed'))
    .requiredOption('--products <n>', 'number of products', wholeNumber)
    .option('--seed <n>', 'seed of the generator; equal seeds make equal products', wholeNumber)
    .action(async ({ products: wanted, seed, ...output }: { products: number; seed?: number } & Output) => {
      const bar = showProgress('products');
      let began = performance.now();
      let seconds = 0;
      let products = 0;
      try {
        await withOperator('catalogue', async ({ seedProducts }, environment) => {
          began = performance.now();
          bar.update(0, wanted);
          const onProgress = (done: number): void => bar.update(done, wanted);
          products = await seedProducts(environment, { count: wanted, seed, onProgress });
          seconds = (performance.now() - began) / 1000;
        });
      } finally {
        bar.stop();
      }
      const rate = Math.round(products / seconds);
      const present = wanted - products;
      print(output, { products, present, seconds, rate }, () =>
        present === 0
          ? `Added ${counted(products, 'product')}, ${rate} a second.`
          : `Added ${counted(products, 'product')}; ${counted(present, 'was there', 'were there')} already.`,
      );
    });
}

function wholeNumber(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  return number;
}
