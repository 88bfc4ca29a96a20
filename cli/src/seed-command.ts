// `seed`: adds products that look real, many at a time.
import { Command, InvalidArgumentError } from 'commander';
import { withShop } from './attach.ts';
import { type Output, print, withJson } from './output.ts';
import { showProgress } from './progress.ts';
import { runScript } from './service-script.ts';

const most = 50_000_000;

export function seedCommand(): Command {
  return withJson(new Command('seed').description('add realistic products to the catalogue'))
    .requiredOption('--products <n>', 'how many', wholeNumber)
    .option('--seed <n>', 'equal numbers make equal products', wholeNumber)
    .action(async ({ products, seed, ...output }: { products: number; seed?: number } & Output) => {
      const bar = showProgress('products');
      const parameters = ['--products', String(products), ...(seed === undefined ? [] : ['--seed', String(seed)])];
      let began = performance.now();
      let seconds = 0;
      try {
        await withShop(async (shop) => {
          began = performance.now();
          bar.update(0, products);
          await runScript(shop, 'catalogue', 'seed', parameters, (value) => {
            bar.update((value as { done: number }).done, products);
          });
          seconds = (performance.now() - began) / 1000;
        });
      } finally {
        bar.stop();
      }
      const rate = Math.round(products / seconds);
      print(output, { products, seconds, rate }, () => `Added ${products} products, ${rate} a second.`);
    });
}

function wholeNumber(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  return number;
}
