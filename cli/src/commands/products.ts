// `products`: imports products from a file, and exports them to one.
import { exportProducts, type Format, formats, type ImportResult, importProducts } from '@shop/catalogue/operator';
import type { Environment } from '@shop/shared/runtime';
import { Command, Option } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { withShop } from '../shop/open-shop.ts';
import { operatorEnvironment } from '../shop/processes.ts';
import { givenPath } from './arguments.ts';

interface FileChoice extends Output {
  readonly format?: Format;
  readonly refused?: string;
}

const about = `
A file has a product per line: CSV with the columns' names in the first line, or JSON lines. The members are externalKey,
name, brand, category and price, and if there is more to say description, currency, rating, status and stock. A product is
known by its externalKey: the same key again changes the product. Status and stock that a line leaves out stay as they are.`;

export function productsCommand(): Command {
  const command = new Command('products').description('bring products in from a file, or out into one');
  withFile(command.command('import').description('take products from a file, line by line'))
    .option('--refused <file>', 'where to report refused lines; beside the file when not given')
    .addHelpText(
      'after',
      `${about}\nAfter an interruption the same command goes on where it was. Exit code 3: some lines were refused.`,
    )
    .action(async (file: string, { format, refused, ...output }: FileChoice) => {
      const path = givenPath(file);
      const report = refused === undefined ? `${path}.refused.ndjson` : givenPath(refused);
      const { result, seconds } = await runWithBar('bytes', (environment, onProgress) =>
        importProducts(environment, { path, format, refused: report, onProgress }),
      );
      const lines = result.created + result.changed + result.unchanged + result.refused;
      const rate = Math.round(lines / seconds);
      const reportOrNone = result.refused > 0 ? report : null;
      if (result.refused > 0) process.exitCode = exitCodes.partly;
      print(output, { ...result, report: reportOrNone, seconds, rate }, () => describe(result, report, rate));
    });
  withFile(command.command('export').description('write all products into a file, which the import takes back'))
    .addHelpText('after', about)
    .action(async (file: string, { format, ...output }: FileChoice) => {
      const path = givenPath(file);
      const { result: products, seconds } = await runWithBar('products', (environment, onProgress) =>
        exportProducts(environment, { path, format, onProgress }),
      );
      print(output, { products, file: path, seconds }, () => `Wrote ${products} products into ${path}.`);
    });
  return command;
}

function withFile(command: Command): Command {
  return withJson(command)
    .argument('<file>', 'its name ends in .csv or .ndjson')
    .addOption(new Option('--format <format>', 'where the name of the file does not tell').choices(formats));
}

/** Runs `work` with a progress bar. @returns its result, and the seconds that it took without opening the shop */
async function runWithBar<T>(
  unit: 'products' | 'bytes',
  work: (environment: Environment, onProgress: (done: number, total: number) => void) => Promise<T>,
): Promise<{ result: T; seconds: number }> {
  const bar = showProgress(unit);
  try {
    return await withShop(async (shop) => {
      const began = performance.now();
      const result = await work(operatorEnvironment(shop, 'catalogue'), bar.update);
      return { result, seconds: (performance.now() - began) / 1000 };
    });
  } finally {
    bar.stop();
  }
}

function describe(result: ImportResult, report: string, rate: number): string {
  const { resumedAfterLine, created, changed, unchanged, refused } = result;
  const lines = [
    `${created} products are new, ${changed} were changed, ${unchanged} were as the file says; ${rate} lines a second.`,
  ];
  if (resumedAfterLine > 0) lines.unshift(`Went on after line ${resumedAfterLine}, where it was interrupted.`);
  if (refused > 0) {
    lines.push(`${refused} lines were refused. Each stands with its reasons in ${report}: mend them and import again.`);
  }
  return lines.join('\n');
}
