// `returns`: lists and shows the returns of all accounts, and approves, refuses and receives them as staff does over
// the API.
import type { Return, ReturnSelection } from '@shop/orders/operator';
import { returnStatuses } from '@shop/orders/operator/values';
import { StartError } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { Command, InvalidArgumentError, Option } from 'commander';
import { money } from '../output/money.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { table, withoutControls } from '../output/table.ts';
import { withOperator } from '../shop/operators.ts';
import { accountId, idOf, limit, orderId, textOf } from './arguments.ts';

const returnId = idOf('a return');
const productId = idOf('a product');

interface Arrived {
  readonly arrived?: Readonly<Record<string, number>>;
  readonly unsellable?: readonly string[];
}

export function returnsCommand(): Command {
  const command = new Command('returns');
  withJson(command.command('list').description('list the returns of all accounts, newest first'))
    .addOption(new Option('--status <status>', 'only returns in this state').choices(returnStatuses))
    .option('--account <id>', 'only returns of this account', accountId)
    .option('--order <id>', 'only returns of this order', orderId)
    .option('--before <id>', 'only returns older than this one, for the next page', returnId)
    .option('--limit <n>', 'the largest number of returns', limit, 20)
    .action(async ({ json, ...selection }: ReturnSelection & Output) => {
      const returns = await withOperator('orders', ({ listAllReturns }, environment) =>
        listAllReturns(environment, selection),
      );
      print({ ...(json && { json }) }, returns, () => listed(returns, selection.limit));
    });
  withReturn(command.command('show').description('show a return')).action(async (id: string, output: Output) => {
    const found = await withOperator('orders', ({ showAnyReturn }, environment) => showAnyReturn(environment, id));
    if (found === undefined) {
      throw new StartError(`there is no return ${id}: ${operatorCommand('shop', 'returns list')} shows the newest`);
    }
    print(output, found, () => shown(found));
  });
  withReturn(command.command('approve').description('approve a return, so that the customer sends it')).action(
    async (id: string, output: Output) => {
      const changed = await withOperator('orders', ({ approveReturn }, environment) => approveReturn(environment, id));
      print(output, changed, () => shown(changed));
    },
  );
  withReturn(command.command('refuse').description('refuse a return'))
    .requiredOption('--reason <text>', 'why, for the e-mail to the customer', textOf(500))
    .action(async (id: string, { reason, ...output }: Output & { reason: string }) => {
      const changed = await withOperator('orders', ({ refuseReturn }, environment) =>
        refuseReturn(environment, id, reason),
      );
      print(output, changed, () => shown(changed));
    });
  withReturn(command.command('receive').description('record that the units of a return have arrived'))
    .option('--arrived <product=units...>', 'what has arrived, when it is not everything', toUnits)
    .option('--unsellable <product...>', 'the products that are not added to the stock', toProducts)
    .action(async (id: string, { arrived, unsellable, ...output }: Output & Arrived) => {
      const changed = await withOperator('orders', ({ receiveReturn }, environment) =>
        receiveReturn(environment, id, { arrived, unsellable }),
      );
      print(output, changed, () => shown(changed));
    });
  return command;
}

function withReturn(command: Command): Command {
  return withJson(command).argument('<return>', 'id of the return', returnId);
}

function toUnits(text: string, former: Readonly<Record<string, number>> = {}): Record<string, number> {
  const [, product = '', units = ''] = /^([^=]+)=(\d{1,5})$/.exec(text) ?? [];
  if (units === '') throw new InvalidArgumentError('It must be the id of a product and its units, such as ID=1.');
  return { ...former, [productId(product)]: Number(units) };
}

function toProducts(text: string, former: readonly string[] = []): string[] {
  return [...former, productId(text)];
}

function listed(returns: readonly Return[], most: number): string {
  if (returns.length === 0) return 'No returns found.';
  const rows = returns.map(({ id, status, createdAt, orderId: order, lines }) => [
    id,
    status,
    createdAt,
    order,
    lines.map(({ quantity, name }) => `${quantity} × ${name}`).join(', '),
  ]);
  const further = returns.length === most ? `\n\nNext page: --before ${returns.at(-1)?.id}` : '';
  return `${table([['RETURN', 'STATUS', 'REQUESTED', 'ORDER', 'ITEMS'], ...rows])}${further}`;
}

function shown(found: Return): string {
  const { id, status, orderId: order, accountId: account, lines, comment, refusalReason, refund, currency } = found;
  const { stockReturned, allowedActions } = found;
  const rows = lines.map(({ productId: product, name, quantity, reason, received, restock }) => [
    product,
    name,
    quantity,
    reason,
    received,
    restock === undefined ? undefined : restock ? 'yes' : 'no',
  ]);
  const next = allowedActions
    .filter((action) => action !== 'withdraw')
    .map((action) => (action === 'refuse' ? `refuse ${id} --reason TEXT` : `${action} ${id}`));
  // Customers and staff wrote the texts, so control characters are escaped.
  const quoted = (text: string): string => withoutControls(JSON.stringify(text));
  return [
    `Return ${id} of order ${order} of account ${account} is ${status}.`,
    ...(comment === undefined ? [] : [`Comment: ${quoted(comment)}`]),
    ...(refusalReason === undefined ? [] : [`Refused: ${quoted(refusalReason)}`]),
    table([['PRODUCT', 'NAME', 'QUANTITY', 'REASON', 'RECEIVED', 'RESTOCK'], ...rows]),
    ...(refund === undefined ? [] : [`${money(refund, currency)} became due as a refund.`]),
    ...(stockReturned === undefined ? [] : [`The stock: ${stockReturned.state}.`]),
    next.length === 0
      ? 'No further step is possible.'
      : `Next: ${next.map((step) => operatorCommand('shop', `returns ${step}`)).join(', or ')}`,
  ].join('\n\n');
}
