// `orders`: lists and shows the orders of all accounts and the refunds that are due, and advances and cancels orders as
// staff does over the API.
import type { Allocate, ChangedOrder, Order, OrderSelection, OrderWithHistory, RefundDue } from '@shop/orders/operator';
import { statuses } from '@shop/orders/operator/values';
import { StartError } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { Command, InvalidArgumentError, Option } from 'commander';
import { exitCodes } from '../output/exit-codes.ts';
import { money } from '../output/money.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { table, withoutControls } from '../output/table.ts';
import { type OpenShop, withShop } from '../shop/open-shop.ts';
import { operators, withOperator } from '../shop/operators.ts';
import { operatorEnvironment } from '../shop/processes.ts';
import { accountId, limit, moment, orderId, textOf } from './arguments.ts';
import { findMember } from './staff.ts';

/** Verb → the next state, in the sequence of an order's states. */
const steps = { process: 'processing', ship: 'shipped', deliver: 'delivered' } as const;

const descriptions = {
  process: 'mark orders as processing',
  ship: 'mark orders as shipped, after which they cannot be cancelled',
  deliver: 'mark orders as delivered',
} as const;

export function ordersCommand(): Command {
  const command = new Command('orders');
  withJson(command.command('list').description('list the orders of all accounts, newest first'))
    .addOption(new Option('--status <status>', 'only orders in this state').choices(statuses))
    .option('--account <id>', 'only orders of this account', accountId)
    .option('--since <time>', 'only orders that were placed then or later: a day in UTC, or a time', moment)
    .option('--before <id>', 'only orders older than this one, for the next page', orderId)
    .option('--limit <n>', 'the largest number of orders', limit, 20)
    .action(async ({ json, ...selection }: OrderSelection & Output) => {
      const orders = await withOperator('orders', ({ listAllOrders }, environment) =>
        listAllOrders(environment, selection),
      );
      print({ ...(json && { json }) }, orders, () => listed(orders, selection.limit));
    });
  withJson(command.command('show').description("show an order's lines and history"))
    .argument('<order>', 'id of the order', orderId)
    .action(async (id: string, output: Output) => {
      const order = await withOperator('orders', ({ showAnyOrder }, environment) => showAnyOrder(environment, id));
      if (order === undefined) throw new StartError(`there is no order ${id}: ${showsNewest()}`);
      print(output, order, () => shown(order));
    });
  withJson(command.command('count').description('show how many orders are in each state')).action(
    async (output: Output) => {
      const counts = await withOperator('orders', ({ countOrders }, environment) => countOrders(environment));
      print(output, counts, () => table([['STATUS', 'ORDERS'], ...Object.entries(counts)]));
    },
  );
  withJson(command.command('refunds').description('list the orders of which the shop owes money back, oldest first'))
    .option('--limit <n>', 'the largest number of orders', limit, 100)
    .action(async ({ limit: most, ...output }: Output & { limit: number }) => {
      const due = await withOperator('orders', ({ listRefundsDue }, environment) => listRefundsDue(environment, most));
      print(output, due, () => owed(due, most));
    });
  for (const verb of ['process', 'ship', 'deliver'] as const) {
    const step = withJson(command.command(verb).description(descriptions[verb]));
    if (verb === 'ship') takeTracking(step);
    takeOrders(step).action(async (ids: readonly string[], { as, json, ...given }: Output & Given) => {
      const [{ advanceOrders }, { allocateStock }] = await Promise.all([operators.orders(), operators.catalogue()]);
      const outcomes = await withShop(async (shop) => {
        const allocate: Allocate = (reservationId, lines) =>
          allocateStock(operatorEnvironment(shop, 'catalogue'), reservationId, lines);
        return advanceOrders(operatorEnvironment(shop, 'orders'), steps[verb], ids, {
          accountId: await fulfiller(shop, as),
          allocate,
          tracking: toTracking(given),
        });
      });
      printOutcomes({ ...(json && { json }) }, outcomes);
    });
  }
  takeOrders(withJson(command.command('cancel').description('cancel orders that have not been shipped')))
    .requiredOption('--reason <text>', 'why, for the history and for the e-mail to the customer', textOf(500))
    .action(async (ids: readonly string[], { as, reason, json }: Output & { as?: string; reason: string }) => {
      const { cancelOrders } = await operators.orders();
      const outcomes = await withShop(async (shop) =>
        cancelOrders(operatorEnvironment(shop, 'orders'), ids, { accountId: await fulfiller(shop, as), reason }),
      );
      printOutcomes({ ...(json && { json }) }, outcomes);
    });
  return command;
}

function takeOrders(command: Command): Command {
  return command
    .argument('<order...>', 'ids of the orders', (id: string, ids: readonly string[] | undefined) => [
      ...(ids ?? []),
      orderId(id),
    ])
    .option('--as <email>', 'e-mail address of the staff account that the history names');
}

function printOutcomes(output: Output, outcomes: readonly ChangedOrder[]): void {
  if (outcomes.some((outcome) => 'refused' in outcome)) {
    process.exitCode = outcomes.some((outcome) => 'order' in outcome) ? exitCodes.partly : exitCodes.failed;
  }
  print(output, outcomes, () => outcomes.map(changed).join('\n'));
}

/** The options of the steps. */
interface Given {
  readonly as?: string;
  readonly carrier?: string;
  readonly trackingNumber?: string;
  readonly trackingUrl?: string;
}

function takeTracking(command: Command): Command {
  return command
    .option('--carrier <name>', 'who carries the parcel of all these orders', word)
    .option('--tracking-number <number>', "the carrier's number of the parcel", word)
    .option('--tracking-url <url>', 'the https address at which the customer can follow the parcel', httpsAddress);
}

function toTracking({ carrier, trackingNumber, trackingUrl }: Given) {
  return {
    ...(carrier && { carrier }),
    ...(trackingNumber && { tracking_number: trackingNumber }),
    ...(trackingUrl && { tracking_url: trackingUrl }),
  };
}

const word = textOf(100);

/** The pattern that the API's contract uses. */
const httpsUrl = /^https:\/\/[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][A-Za-z0-9._~:/?#@!$&'()*+,;=%[\]-]*)?$/;

function httpsAddress(text: string): string {
  if (httpsUrl.test(text) && text.length <= 2000) return text;
  throw new InvalidArgumentError('It must be an https address.');
}

function paymentOf(order: Order, { status, dueAt, refundDue, refunded }: NonNullable<Order['payment']>): string {
  return [
    `Its payment is ${status.replaceAll('_', ' ')}${status === 'due' ? ` until ${dueAt}` : ''}.`,
    ...(refundDue === undefined ? [] : [`The shop owes ${money(refundDue, order.currency)} back.`]),
    ...(refunded === undefined ? [] : [`${money(refunded, order.currency)} was paid back.`]),
  ].join(' ');
}

function showsNewest(): string {
  return `${operatorCommand('shop', 'orders list')} shows the newest`;
}

/**
 * Returns the id of the account, if one is given.
 * @throws StartError when the account lacks the scope for this
 */
async function fulfiller(shop: OpenShop, email: string | undefined): Promise<string | undefined> {
  if (email === undefined) return undefined;
  const member = await findMember(shop, email);
  if (member?.scopes.includes('orders:fulfil') === true) return member.accountId;
  const grant = operatorCommand('shop', `staff grant ${email} orders:fulfil`);
  throw new StartError(`${email} may not fulfil orders: run ${grant}`);
}

function listed(orders: readonly Order[], most: number): string {
  if (orders.length === 0) return 'No orders found.';
  const rows = orders.map((order) => [
    order.id,
    order.status,
    order.createdAt,
    money(order.totalCost, order.currency),
    order.itemsSummary
      .filter(({ quantity }) => quantity > 0)
      .map(({ quantity, name }) => `${quantity} × ${name}`)
      .join(', '),
  ]);
  const further = orders.length === most ? `\n\nNext page: --before ${orders.at(-1)?.id}` : '';
  return `${table([['ORDER', 'STATUS', 'PLACED', 'TOTAL', 'ITEMS'], ...rows])}${further}`;
}

function owed(due: readonly RefundDue[], most: number): string {
  if (due.length === 0) return 'No refund is due.';
  const rows = due.map(({ orderId: id, status, dueSince, amount: value, currency, causes, payments }) => [
    id,
    status,
    dueSince,
    money(value, currency),
    causes.join(', '),
    payments.map(({ reference, amount: paid }) => `${JSON.stringify(reference)} ${money(paid, currency)}`).join(', '),
  ]);
  const further = due.length === most ? `\n\nThere may be more: use --limit.` : '';
  return `${table([['ORDER', 'STATUS', 'DUE SINCE', 'AMOUNT', 'CAUSES', 'PAYMENTS'], ...rows])}${further}`;
}

function shown(order: OrderWithHistory): string {
  const lines = order.itemsSummary.map(({ quantity, cancelledQuantity, returnedQuantity, name, lineTotal }) => [
    quantity,
    cancelledQuantity,
    returnedQuantity,
    name,
    money(lineTotal, order.currency),
  ]);
  const history = order.history.map(({ status, at, by, cancelledLines = [], reason }) => [
    at,
    status,
    by,
    cancelledLines.map(({ quantity, name }) => `cancelled ${quantity} × ${name}`).join(', '),
    reason === undefined ? undefined : JSON.stringify(reason),
  ]);
  const next = order.allowedActions.map((action) =>
    action === 'cancel' ? `cancel ${order.id} --reason TEXT` : `${action} ${order.id}`,
  );
  return [
    `Order ${order.id} of account ${order.accountId} is ${order.status}: ${money(order.totalCost, order.currency)}.`,
    ...parcelOf(order),
    ...(order.payment === undefined ? [] : [paymentOf(order, order.payment)]),
    table([['QUANTITY', 'CANCELLED', 'RETURNED', 'PRODUCT', 'TOTAL'], ...lines]),
    ...pricesOf(order),
    table([['TIME', 'STATUS', 'BY', 'CHANGE', 'REASON'], ...history]),
    next.length === 0
      ? 'No further step is possible.'
      : `Next: ${next.map((step) => operatorCommand('shop', `orders ${step}`)).join(', or ')}`,
  ].join('\n\n');
}

/** Prints what the order costs beside its lines; nothing for an order without shipping, discounts and taxes. */
function pricesOf(order: OrderWithHistory): string[] {
  const { shipping, discounts = [], taxes = [], pricesIncludeTax = false, taxExempt, taxExemption } = order;
  const rows = [
    ...(shipping === undefined
      ? []
      : [['shipping', Object.values(shipping.name)[0], money(shipping.price, order.currency)]]),
    ...discounts.map(({ name, code, amount: saved }) => ['discount', code ?? name, `-${money(saved, order.currency)}`]),
    ...taxes.map(({ name, rate, amount: tax }) => {
      return [pricesIncludeTax ? 'tax included' : 'tax added', `${name} ${rate} %`, money(tax, order.currency)];
    }),
    ...(taxExempt
      ? [['tax not due', 'reverse charge', taxExemption && `-${money(taxExemption, order.currency)}`]]
      : []),
  ];
  return rows.length === 0 ? [] : [table([['PRICE', 'NAME', 'AMOUNT'], ...rows])];
}

/**
 * Prints the contact data of the customer and the address of the parcel. Customers wrote both, so control characters
 * are escaped.
 */
function parcelOf({ customer, shipping_address: address }: Order): string[] {
  const shown = (label: string, parts: object | undefined): string[] =>
    parts === undefined
      ? []
      : [
          `${label}: ${Object.values(parts)
            .map((part) => withoutControls(JSON.stringify(part)))
            .join(', ')}`,
        ];
  const lines = [...shown('Customer', customer), ...shown('Ship to', address && inOrder(address))];
  return lines.length === 0 ? [] : [lines.join('\n')];
}

/** Returns the lines of an address in the order of a label. */
function inOrder(address: NonNullable<Order['shipping_address']>) {
  const { recipient, street_address: street, postal_code: code, city, region, country } = address;
  return Object.fromEntries(
    Object.entries({ recipient, street, code, city, region, country }).filter(([, part]) => part !== undefined),
  );
}

function changed(outcome: ChangedOrder): string {
  const { id } = outcome;
  if ('order' in outcome) return `${id} is ${outcome.order.status}`;
  const next =
    outcome.code === 'not-found'
      ? showsNewest()
      : `${operatorCommand('shop', `orders show ${id}`)} shows what may come next`;
  return `${id}: ${outcome.refused} ${next}.`;
}
