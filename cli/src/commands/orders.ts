// `orders`: look at all accounts' orders, and move them on as staff does through the API.
import {
  type AdvancedOrder,
  advanceOrders,
  listAllOrders,
  type Order,
  type OrderSelection,
  type OrderWithHistory,
  showAnyOrder,
  statuses,
} from '@shop/orders/operator';
import { decimalsOf, StartError } from '@shop/shared/runtime';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { table } from '../output/table.ts';
import { type OpenShop, withShop } from '../shop/open-shop.ts';
import { operatorEnvironment } from '../shop/processes.ts';
import { accountId, orderId } from './arguments.ts';
import { findMember } from './staff.ts';

/** Verb → the state that it leads to, in the order of an order's life. */
const steps = { process: 'processing', ship: 'shipped', deliver: 'delivered' } as const;

const descriptions = {
  process: 'say that work on orders begins',
  ship: 'say that orders have left the house: from then on they cannot be cancelled',
  deliver: 'say that orders have arrived',
} as const;

export function ordersCommand(): Command {
  const command = new Command('orders').description('look at orders and move them on');
  withJson(command.command('list').description("list all accounts' orders, the newest first"))
    .addOption(new Option('--status <status>', 'only those in this state').choices(statuses))
    .option('--account <id>', 'only those of this account', accountId)
    .option('--before <id>', 'only those that are older than this order: the next page', orderId)
    .option('--limit <n>', 'how many', limit, 20)
    .action(async ({ json, ...selection }: OrderSelection & Output) => {
      const orders = await withShop((shop) => listAllOrders(operatorEnvironment(shop, 'orders'), selection));
      print({ ...(json && { json }) }, orders, () => listed(orders, selection.limit));
    });
  withJson(command.command('show').description('show an order with its lines and its history'))
    .argument('<order>', 'its id', orderId)
    .action(async (id: string, output: Output) => {
      const order = await withShop((shop) => showAnyOrder(operatorEnvironment(shop, 'orders'), id));
      if (order === undefined) throw new StartError(`there is no order ${id}: orders list shows the newest`);
      print(output, order, () => shown(order));
    });
  for (const verb of ['process', 'ship', 'deliver'] as const) {
    withJson(command.command(verb).description(descriptions[verb]))
      .argument('<order...>', 'their ids', (id: string, ids: readonly string[] | undefined) => [
        ...(ids ?? []),
        orderId(id),
      ])
      .option('--as <email>', 'the staff account that the history is to name')
      .action(async (ids: readonly string[], { as, ...output }: Output & { as?: string }) => {
        const outcomes = await withShop(async (shop) => {
          const who = as === undefined ? undefined : await fulfiller(shop, as);
          return advanceOrders(operatorEnvironment(shop, 'orders'), steps[verb], ids, who);
        });
        if (outcomes.some((outcome) => 'refused' in outcome)) {
          process.exitCode = outcomes.some((outcome) => 'order' in outcome) ? exitCodes.partly : exitCodes.failed;
        }
        print(output, outcomes, () => outcomes.map(advanced).join('\n'));
      });
  }
  return command;
}

/** @throws StartError when the account may not do this through the API either */
async function fulfiller(shop: OpenShop, email: string): Promise<string> {
  const member = await findMember(shop, email);
  if (member?.scopes.includes('orders:fulfil') === true) return member.accountId;
  throw new StartError(`${email} may not fulfil orders: run npm run shop -- staff grant ${email} orders:fulfil`);
}

function limit(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 1_000) throw new InvalidArgumentError('It must be a whole number from 1 to 1000.');
  return number;
}

function listed(orders: readonly Order[], most: number): string {
  if (orders.length === 0) return 'There are no such orders.';
  const rows = orders.map((order) => [
    order.id,
    order.status,
    order.createdAt,
    amount(order, order.totalCost),
    order.itemsSummary.map(({ quantity, name }) => `${quantity} × ${name}`).join(', '),
  ]);
  const further = orders.length === most ? `\n\nMay go on: --before ${orders.at(-1)?.id}` : '';
  return `${table([['ORDER', 'STATUS', 'PLACED', 'TOTAL', 'ITEMS'], ...rows])}${further}`;
}

function shown(order: OrderWithHistory): string {
  const lines = order.itemsSummary.map(({ quantity, name, lineTotal }) => [quantity, name, amount(order, lineTotal)]);
  const history = order.history.map(({ status, at, by }) => [at, status, by]);
  const next = order.allowedActions.filter((action) => action !== 'cancel');
  return [
    `Order ${order.id} of account ${order.accountId} is ${order.status}: ${amount(order, order.totalCost)}.`,
    table([['QUANTITY', 'PRODUCT', 'TOTAL'], ...lines]),
    table([['TIME', 'STATUS', 'BY'], ...history]),
    next.length === 0 ? 'Nothing is left to do for staff.' : `Next: orders ${next.join(' | ')} ${order.id}`,
  ].join('\n\n');
}

function amount({ currency }: Order, value: number): string {
  return `${value.toFixed(decimalsOf(currency))} ${currency}`;
}

function advanced(outcome: AdvancedOrder): string {
  const { id } = outcome;
  if ('order' in outcome) return `${id} is ${outcome.order.status}`;
  const next =
    outcome.code === 'not-found' ? 'orders list shows the newest' : `orders show ${id} says what may come next`;
  return `${id}: ${outcome.refused} ${next}.`;
}
