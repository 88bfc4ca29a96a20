// Command `trace`: prints the history of one order with its states, stock, e-mails, and the events between the
// services.
import { StartError } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withShop } from '../shop/open-shop.ts';
import { readTimeline, type Timeline } from '../shop/order-timeline.ts';
import { orderId } from './arguments.ts';

export function traceCommand(): Command {
  return withJson(new Command('trace'))
    .argument('<order>', 'id of the order', orderId)
    .action(async (id: string, output: Output) => {
      const timeline = await withShop((shop) => readTimeline(shop, id));
      if (timeline === undefined) {
        throw new StartError(`there is no order ${id}: ${operatorCommand('shop', 'orders list')} shows the newest`);
      }
      print(output, timeline, () => describe(timeline));
    });
}

function describe({ orderId: id, accountId, status, steps }: Timeline): string {
  const rows = steps.map((step) => [step.at.toISOString(), step.service, step.kind, step.what, step.requestId]);
  return (
    `Order ${id} of account ${accountId} is ${status}.\n\n` +
    `${table([['TIME', 'SERVICE', 'STEP', 'WHAT', 'REQUEST'], ...rows])}`
  );
}
