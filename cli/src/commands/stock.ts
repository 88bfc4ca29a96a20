// `stock`: whether the stock adds up with the book of its movements.
import { Command } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { type OpenShop, withShop } from '../shop/open-shop.ts';
import { runScript } from '../shop/service-script.ts';

interface Fault {
  readonly detail: string;
  readonly productId?: string;
  readonly name?: string;
  readonly reservationId?: string;
  readonly movement?: { readonly id: number; readonly kind: string; readonly quantity: number; readonly at: string };
}

interface Report {
  readonly products: number;
  readonly movements: number;
  readonly reservations: number;
  /** Movements first, the earliest at the top. */
  readonly faults: readonly Fault[];
}

export function stockCommand(): Command {
  const command = new Command('stock').description('look after the stock');
  withJson(
    command
      .command('verify')
      .description('recompute the stock from all its movements; exit code 1 if it does not add up'),
  ).action(async (output: Output) => {
    const report = await withShop(verifyStock);
    if (report.faults.length > 0) process.exitCode = exitCodes.failed;
    print(output, report, () => describe(report));
  });
  return command;
}

/** Recomputes the stock, also of a shop that a command has only just made. */
export async function verifyStock(shop: OpenShop): Promise<Report> {
  let written: Report | undefined;
  await runScript(shop, 'catalogue', 'verify-stock', [], (value) => {
    written = value as Report;
  }).catch((error: unknown) => {
    // A report with faults ends the script with a failure too; without a report it is one.
    if (written === undefined) throw error;
  });
  return written as Report;
}

function describe({ products, movements, reservations, faults }: Report): string {
  const read = `${products} products, ${movements} movements, ${reservations} reservations`;
  const [first] = faults;
  if (first === undefined) return `All adds up: ${read}.`;
  const rows = faults.map((fault) => [placeOf(fault), fault.name ?? fault.productId, fault.detail]);
  return `${table([['WHERE', 'PRODUCT', 'WHAT'], ...rows])}\n\n${read}. The first that does not add up: ${placeOf(first)}.
What to do: docs/command-line.md, "When something is wrong".`;
}

function placeOf({ movement, reservationId, productId }: Fault): string {
  if (movement !== undefined) {
    return `movement ${movement.id} (${movement.kind} ${movement.quantity}, ${new Date(movement.at).toISOString()})`;
  }
  return reservationId === undefined ? `product ${productId}` : `reservation ${reservationId}`;
}
