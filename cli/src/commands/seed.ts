// `seed`: adds products that look real, many at a time.
import { Command, InvalidArgumentError } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { withShop } from '../shop/open-shop.ts';
import { runScript } from '../shop/service-script.ts';

const most = 50_000_000;

export function seedCommand(): Command {
  return withJson(new Command('seed').description('add realistic products to the catalogue'))
    .requiredOption('--products <n>', 'how many', wholeNumber)
    .option('--seed <n>', 'equal numbers make equal products', wholeNumber)
    .action(async ({ products: wanted, seed, ...output }: { products: number; seed?: number } & Output) => {
      const bar = showProgress('products');
      const parameters = ['--products', String(wanted), ...(seed === undefined ? [] : ['--seed', String(seed)])];
      let began = performance.now();
      let seconds = 0;
      let products = 0;
      try {
        await withShop(async (shop) => {
          began = performance.now();
          bar.update(0, wanted);
          await runScript(shop, 'catalogue', 'seed', parameters, (value) => {
            const { done, added } = value as { done: number; added: number };
            products = added;
            bar.update(done, wanted);
          });
          seconds = (performance.now() - began) / 1000;
        });
      } finally {
        bar.stop();
      }
      const rate = Math.round(products / seconds);
      const present = wanted - products;
      print(output, { products, present, seconds, rate }, () =>
        present === 0
          ? `Added ${products} products, ${rate} a second.`
          : `Added ${products} products; ${present} were there already.`,
      );
    });
}

function wholeNumber(text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > most) throw new InvalidArgumentError(`It must be a whole number from 1 to ${most}.`);
  return number;
}
