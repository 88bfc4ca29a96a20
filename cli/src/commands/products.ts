// `products`: imports products from a file, exports them to one, and lists the changes of a product.
import type { ImportResult, RecordedChange } from '@shop/catalogue/operator';
import { type Format, formats } from '@shop/catalogue/operator/values';
import type { Environment } from '@shop/shared/runtime';
import { Command, Option } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { showProgress } from '../output/progress.ts';
import { table } from '../output/table.ts';
import { type Operator, withOperator } from '../shop/operators.ts';
import { givenPath, limit } from './arguments.ts';

interface FileChoice extends Output {
  readonly format?: Format;
  readonly refused?: string;
  readonly replace?: boolean;
}

const about = `
A file has one product on each line: CSV with the names of the columns in the first line, or JSON lines. Required are
externalKey, name, brand, category and price. Optional are the other columns of an exported file. externalKey is the
sku and identifies a product: a line with a known key changes that product. Members whose columns a CSV file lacks stay
unchanged, so a price list needs externalKey and price only. An absent description or rating is removed, and other
members stay unchanged.`;

export function productsCommand(): Command {
  const command = new Command('products');
  withFile(command.command('import').description('import products from a file'))
    .option('--refused <file>', 'file for the refused lines; default: FILE.refused.ndjson')
    .option('--replace', 'remove members whose columns a CSV file lacks; default: they stay')
    .addHelpText(
      'after',
      `${about}\nAfter an interruption, the same command continues. Exit code 3: some lines were refused.`,
    )
    .action(async (file: string, { format, refused, replace, ...output }: FileChoice) => {
      const path = givenPath(file);
      const report = refused === undefined ? `${path}.refused.ndjson` : givenPath(refused);
      const { result, seconds } = await runWithBar('bytes', ({ importProducts }, environment, onProgress) =>
        importProducts(environment, { path, format, replace, refused: report, onProgress }),
      );
      const lines = result.created + result.changed + result.unchanged + result.refused;
      const rate = Math.round(lines / seconds);
      const reportOrNone = result.refused > 0 ? report : null;
      if (result.refused > 0) process.exitCode = exitCodes.partly;
      print(output, { ...result, report: reportOrNone, seconds, rate }, () => describe(result, report, rate));
    });
  withFile(command.command('export').description('export all products to a file that can be imported again'))
    .addHelpText('after', about)
    .action(async (file: string, { format, ...output }: FileChoice) => {
      const path = givenPath(file);
      const { result: products, seconds } = await runWithBar(
        'products',
        ({ exportProducts }, environment, onProgress) => exportProducts(environment, { path, format, onProgress }),
      );
      print(output, { products, file: path, seconds }, () => `Wrote ${counted(products, 'product')} into ${path}.`);
    });
  withJson(command.command('history').description('list the changes of a product, with who made them, newest first'))
    .argument('<product>', 'the sku or the id of a product')
    .option('--limit <n>', 'at most this many changes', limit, 50)
    .action(async (product: string, { limit: most, ...output }: Output & { limit: number }) => {
      const changes = await withOperator('catalogue', ({ listProductHistory }, environment) =>
        listProductHistory(environment, product, most),
      );
      print(output, changes, () => listed(changes));
    });
  return command;
}

function withFile(command: Command): Command {
  return withJson(command)
    .argument('<file>', 'a file whose name ends in .csv or .ndjson')
    .addOption(new Option('--format <format>', 'format, for a file with another ending').choices(formats));
}

/** Runs `work` with a progress bar. @returns its result, and the seconds that it took without opening the shop */
async function runWithBar<T>(
  unit: 'products' | 'bytes',
  work: (
    catalogue: Operator<'catalogue'>,
    environment: Environment,
    onProgress: (done: number, total: number) => void,
  ) => Promise<T>,
): Promise<{ result: T; seconds: number }> {
  const bar = showProgress(unit);
  try {
    return await withOperator('catalogue', async (catalogue, environment) => {
      const began = performance.now();
      const result = await work(catalogue, environment, bar.update);
      return { result, seconds: (performance.now() - began) / 1000 };
    });
  } finally {
    bar.stop();
  }
}

function describe(result: ImportResult, report: string, rate: number): string {
  const { resumedAfterLine, created, changed, unchanged, refused } = result;
  const lines = [
    [
      counted(created, 'product is new', 'products are new'),
      counted(changed, 'was changed', 'were changed'),
      `${counted(unchanged, 'was as the file says', 'were as the file says')}; ${counted(rate, 'line')} a second.`,
    ].join(', '),
  ];
  if (resumedAfterLine > 0) lines.unshift(`Went on after line ${resumedAfterLine}, where it was interrupted.`);
  if (refused > 0) {
    lines.push(
      `${counted(refused, 'line was refused', 'lines were refused')}. Each stands with its reasons in ${report}: correct them and import again.`,
    );
  }
  return lines.join('\n');
}

function listed(changes: readonly RecordedChange[]): string {
  if (changes.length === 0) return 'The product has no recorded change.';
  const rows = changes.map(({ createdAt, by, staffId, reason, changes: members }) => [
    createdAt.toISOString(),
    staffId === null ? by : `${by} ${staffId}`,
    reason ?? '',
    members.map(({ member, old, new: present }) => `${member}: ${shown(old)} → ${shown(present)}`).join(', '),
  ]);
  return table([['TIME', 'BY', 'REASON', 'CHANGES'], ...rows]);
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value);
}
