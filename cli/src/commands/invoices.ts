// `invoices`: lists and shows invoices and credit notes, and proves that their numbers have no gap.
import type { InvoiceSeries, ListedInvoice } from '@shop/orders/operator';
import { StartError } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { Command, InvalidArgumentError } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { money } from '../output/money.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { table, withoutControls } from '../output/table.ts';
import { withOperator } from '../shop/operators.ts';

export function invoicesCommand(): Command {
  const command = new Command('invoices');
  withJson(command.command('list').description('list the invoices and credit notes of a year'))
    .option('--year <year>', 'the year; by default the present one', toYear, new Date().getUTCFullYear())
    .action(async ({ year, ...output }: Output & { year: number }) => {
      const invoices = await withOperator('orders', ({ listInvoices }, environment) => listInvoices(environment, year));
      print(output, invoices, () => listed(invoices, year));
    });
  withJson(command.command('show').description('show an invoice or a credit note'))
    .argument('<number>', 'number of the document')
    .action(async (number: string, output: Output) => {
      const found = await withOperator('orders', ({ showInvoice }, environment) => showInvoice(environment, number));
      if (found === undefined) {
        const all = operatorCommand('shop', 'invoices list');
        throw new StartError(`there is no invoice ${number}: ${all} shows those of the year`);
      }
      // A document has texts of customers, so control characters are escaped.
      print(output, found, () => JSON.stringify(found, undefined, 2).split('\n').map(withoutControls).join('\n'));
    });
  withJson(
    command.command('verify').description('prove that the numbers have no gap; exit code 1 if they have'),
  ).action(async (output: Output) => {
    const series = await withOperator('orders', ({ verifyInvoices }, environment) => verifyInvoices(environment));
    if (series.some(({ isComplete }) => !isComplete)) process.exitCode = exitCodes.failed;
    print(output, series, () => verified(series));
  });
  return command;
}

function toYear(text: string): number {
  if (/^\d{4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a year such as 2026.');
}

function listed(invoices: readonly ListedInvoice[], year: number): string {
  if (invoices.length === 0) return `No invoices of ${year} found.`;
  const rows = invoices.map(({ number, issuedAt, orderId, total, currency }) => [
    number,
    issuedAt,
    orderId,
    money(total, currency),
  ]);
  return table([['NUMBER', 'ISSUED', 'ORDER', 'TOTAL'], ...rows]);
}

function verified(series: readonly InvoiceSeries[]): string {
  if (series.length === 0) return 'No invoices found.';
  const rows = series.map(({ kind, year, last, documents, missing, isComplete }) => [
    kind,
    year,
    last,
    documents,
    isComplete ? 'no gap' : `missing: ${missing.join(', ') || 'none, but numbers and documents differ'}`,
  ]);
  return table([['SERIES', 'YEAR', 'LAST', 'DOCUMENTS', 'RESULT'], ...rows]);
}
