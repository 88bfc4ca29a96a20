// `trace`: what became of one order, step by step: its states, its stock, its e-mails, and the events between them.
import { tellEvent } from '@shop/shared/events';
import { StartError } from '@shop/shared/runtime';
import { Command } from 'commander';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { withShop } from '../shop/open-shop.ts';
import { readTimeline, type Step, type Timeline } from '../shop/order-timeline.ts';
import { orderId } from './arguments.ts';

export function traceCommand(): Command {
  return withJson(
    new Command('trace').description('show what happened to an order, its stock and its e-mails, by time'),
  )
    .argument('<order>', 'id of the order', orderId)
    .action(async (id: string, output: Output) => {
      const timeline = await withShop(({ databases }) => readTimeline(databases, id));
      if (timeline === undefined) throw new StartError(`there is no order ${id}: orders list shows the newest`);
      print(output, timeline, () => describe(timeline));
    });
}

function describe({ orderId: id, accountId, status, steps }: Timeline): string {
  const rows = steps.map((step) => [step.at.toISOString(), step.service, step.kind, tell(step), step.requestId]);
  return `Order ${id} of account ${accountId} is ${status}.\n\n${table([['TIME', 'SERVICE', 'STEP', 'WHAT', 'REQUEST'], ...rows])}`;
}

function tell(step: Step): string {
  switch (step.kind) {
    case 'transition':
      return `${step.status} by ${step.actor} ${step.actorId}`;
    case 'event':
    case 'delivery':
      return tellEvent(step);
    case 'reservation':
      return `${step.reservationId} ${step.state}`;
    case 'movement':
      return `${step.movementKind} ${step.quantity} of ${step.name}: ${step.stockAfter} on hand, ${step.promisedAfter} promised`;
    case 'e-mail':
      return `${step.emailKind} ${step.status}${attemptsOf(step)}`;
  }
}

/** One attempt that went well needs no words. */
function attemptsOf({ attempts, problem }: { attempts: number; problem: string | null }): string {
  const count = attempts > 1 || problem !== null ? `, ${attempts} attempts` : '';
  return problem === null ? count : `${count}: ${problem}`;
}
