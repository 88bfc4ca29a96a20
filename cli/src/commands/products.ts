// `products`: many products at once, from a file and into one.
import { Command, Option } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { withShop } from '../shop/open-shop.ts';
import { runScript } from '../shop/service-script.ts';
import { givenPath } from './arguments.ts';

interface ImportResult {
  readonly resumedAfterLine: number;
  readonly created: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly refused: number;
}

interface FileChoice extends Output {
  readonly format?: string;
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
      const { last, seconds } = await runWithBar<ImportResult>(
        'import-products',
        [path, '--refused', report, ...formatParameters(format)],
        'bytes',
      );
      const lines = last.created + last.changed + last.unchanged + last.refused;
      const rate = Math.round(lines / seconds);
      const reportOrNone = last.refused > 0 ? report : null;
      if (last.refused > 0) process.exitCode = exitCodes.partly;
      print(output, { ...last, report: reportOrNone, seconds, rate }, () => describe(last, report, rate));
    });
  withFile(command.command('export').description('write all products into a file, which the import takes back'))
    .addHelpText('after', about)
    .action(async (file: string, { format, ...output }: FileChoice) => {
      const path = givenPath(file);
      const parameters = [path, ...formatParameters(format)];
      const { last, seconds } = await runWithBar<{ products: number }>('export-products', parameters, 'products');
      const { products } = last;
      print(output, { products, file: path, seconds }, () => `Wrote ${products} products into ${path}.`);
    });
  return command;
}

function withFile(command: Command): Command {
  return withJson(command)
    .argument('<file>', 'its name ends in .csv or .ndjson')
    .addOption(new Option('--format <format>', 'where the name of the file does not tell').choices(['csv', 'ndjson']));
}

function formatParameters(format: string | undefined): string[] {
  return format === undefined ? [] : ['--format', format];
}

/** The last value that the script writes, and how long it took from the shop being there. */
async function runWithBar<T>(
  script: string,
  parameters: readonly string[],
  unit: 'products' | 'bytes',
): Promise<{ last: T; seconds: number }> {
  const bar = showProgress(unit);
  try {
    return await withShop(async (shop) => {
      const began = performance.now();
      let last: unknown;
      await runScript(shop, 'catalogue', script, parameters, (value) => {
        const { done, total } = value as { done?: number; total?: number };
        if (done !== undefined && total !== undefined) bar.update(done, total);
        else last = value;
      });
      return { last: last as T, seconds: (performance.now() - began) / 1000 };
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
