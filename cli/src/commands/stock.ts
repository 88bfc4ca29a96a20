// Command `stock`: compares the stock with its ledger, and lists the units that accounts reserve in unprocessed orders.
import type { AccountHold, StockFault, StockReport } from '@shop/catalogue/operator';
import { Command } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withOperator } from '../shop/operators.ts';
import { limit } from './arguments.ts';

export function stockCommand(): Command {
  const command = new Command('stock');
  withJson(
    command.command('verify').description('recompute the stock from its ledger; exit code 1 if it has faults'),
  ).action(async (output: Output) => {
    const report = await withOperator('catalogue', ({ verifyStock }, environment) => verifyStock(environment));
    if (report.faults.length > 0) process.exitCode = exitCodes.failed;
    print(output, report, () => describe(report));
  });
  withJson(
    command.command('holds').description('list the accounts that hold the most in orders nobody has begun to process'),
  )
    .option('--limit <n>', 'the largest number of accounts', limit, 20)
    .action(async ({ limit: most, ...output }: Output & { limit: number }) => {
      const holds = await withOperator('catalogue', ({ listHolds }, environment) => listHolds(environment, most));
      print(output, holds, () => held(holds));
    });
  return command;
}

function held(holds: readonly AccountHold[]): string {
  if (holds.length === 0) return 'No account holds stock in orders that nobody has begun to process.';
  return table([
    ['ACCOUNT', 'ORDERS', 'UNITS'],
    ...holds.map(({ accountId, orders, units }) => [accountId, orders, units]),
  ]);
}

function describe({ products, movements, reservations, faults }: StockReport): string {
  const read = [
    counted(products, 'product'),
    counted(movements, 'movement'),
    counted(reservations, 'reservation'),
  ].join(', ');
  const [first] = faults;
  if (first === undefined) return `All adds up: ${read}.`;
  const rows = faults.map((fault) => [toLocation(fault), fault.name ?? fault.productId ?? '', fault.detail]);
  return `${table([['WHERE', 'PRODUCT', 'WHAT'], ...rows])}

${read}. The first that does not add up: ${toLocation(first)}.
What to do: docs/command-line.md, "Troubleshooting".`;
}

function toLocation({ movement, reservationId, accountId, productId }: StockFault): string {
  if (movement !== undefined) {
    return `movement ${movement.id} (${movement.kind} ${movement.quantity}, ${new Date(movement.at).toISOString()})`;
  }
  if (accountId !== undefined) return `account ${accountId}`;
  return reservationId === undefined ? `product ${productId}` : `reservation ${reservationId}`;
}
