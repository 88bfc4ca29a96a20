// `shipping`, `taxes` and `discounts`: lists, shows, adds, changes and archives the settings of prices.
import type { Setting, SettingKind } from '@shop/orders/operator';
import { type Environment, readConfig, StartError } from '@shop/shared/runtime';
import { currency, operatorCommand } from '@shop/shared/shop';
import { Command, InvalidArgumentError, Option } from 'commander';
import { money } from '../output/money.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { type Cell, list, table } from '../output/table.ts';
import { type Operator, withOperator } from '../shop/operators.ts';
import { idOf, limit, moment } from './arguments.ts';

/** A member that an option sets: the part of a merge patch for its value. */
interface SettingOption {
  readonly option: Option;
  /** The path of the member; default the name of the option in camelCase. */
  readonly path?: readonly string[];
}

interface Kind<Name extends SettingKind> {
  readonly kind: Name;
  readonly noun: string;
  readonly options: readonly SettingOption[];
  /** The members that are amounts of money. */
  readonly amounts: (setting: Setting[Name]) => readonly string[];
  readonly heading: readonly string[];
  readonly row: (setting: Shown<Setting[Name]>) => readonly Cell[];
}

/** A setting whose amounts of money are texts. */
type Shown<Given> = { readonly [Name in keyof Given]: number extends Given[Name] ? Cell : Given[Name] };

const amount = (flags: string, description: string): SettingOption => ({ option: numberOption(flags, description) });
const numberOption = (flags: string, description: string): Option => new Option(flags, description).argParser(toNumber);
const time = (flags: string, description: string): SettingOption => ({
  option: new Option(flags, description).argParser(moment),
});
const text = (flags: string, description: string): SettingOption => ({ option: new Option(flags, description) });
/** An option whose values are a list in a member of `appliesTo`. */
const scope = (flags: string, description: string, member: string): SettingOption => ({
  option: new Option(flags, description),
  path: ['appliesTo', member],
});

const shipping: Kind<'shipping-method'> = {
  kind: 'shipping-method',
  noun: 'shipping method',
  options: [
    {
      option: new Option('--name <language=text...>', 'the name in a language, such as en=Standard').argParser(toTexts),
    },
    {
      option: new Option('--country <code...>', 'the countries of ISO 3166-1 to which it delivers'),
      path: ['countries'],
    },
    amount('--price <amount>', 'the price'),
    amount('--free-from <amount>', 'costs nothing when the lines cost at least this amount'),
    amount('--price-per-kilogram <amount>', 'the further price of each kilogram begun'),
    amount('--maximum-weight <kilograms>', 'sends no heavier order'),
    { option: new Option('--days <from-to>', 'the usual days of the delivery, such as 2-4').argParser(toDays) },
    text('--tax-category <category>', 'the category of its tax rate'),
    amount('--position <n>', 'the place in lists, the lowest first'),
  ],
  amounts: () => ['price', 'freeFrom', 'pricePerKilogram'],
  heading: ['METHOD', 'POSITION', 'PRICE', 'FREE FROM', 'DAYS', 'COUNTRIES', 'NAME'],
  row: ({ id, position, price, freeFrom, days, countries, name }) => [
    id,
    position,
    price,
    freeFrom,
    days && `${days.from}-${days.to}`,
    countries?.join(' ') ?? 'all',
    Object.values(name)[0],
  ],
};

const taxes: Kind<'tax-rate'> = {
  kind: 'tax-rate',
  noun: 'tax rate',
  options: [
    text('--country <code>', 'the country, as a code of ISO 3166-1'),
    text('--region <region>', 'the region of the country, as addresses have it'),
    text('--category <category>', 'the category of the products; default standard'),
    amount('--rate <percent>', 'the rate in percent'),
    text('--name <text>', 'the name of the tax on orders'),
    time('--from <time>', 'when the rate begins: a day in UTC, or a time'),
  ],
  amounts: () => [],
  heading: ['RATE', 'COUNTRY', 'REGION', 'CATEGORY', 'PERCENT', 'FROM', 'NAME'],
  row: ({ id, country, region, category, rate, from, name }) => [id, country, region, category, rate, from, name],
};

const discounts: Kind<'discount'> = {
  kind: 'discount',
  noun: 'discount',
  options: [
    text('--name <text>', 'the name on orders'),
    text('--code <code>', 'the code that customers give; without it, the discount applies by itself'),
    { option: new Option('--kind <kind>', 'what it does').choices(['percent', 'amount', 'free-shipping']) },
    amount('--value <number>', 'the percentage or the amount'),
    amount('--minimum <amount>', 'the least that the lines have to cost'),
    scope('--product <id...>', 'only for these products', 'productIds'),
    scope('--brand <brand...>', 'only for products of these brands', 'brands'),
    scope('--category <category...>', 'only for products of these categories', 'categories'),
    scope('--group <group...>', 'only for these groups of variants', 'groups'),
    time('--from <time>', 'when it begins: a day in UTC, or a time'),
    time('--until <time>', 'when it ends: a day in UTC, or a time'),
    amount('--uses <n>', 'the number of orders that can use it'),
    amount('--uses-per-account <n>', 'the number of orders of one account that can use it'),
    { option: new Option('--combinable', 'can be used together with other combinable discounts') },
  ],
  amounts: ({ kind }) => (kind === 'amount' ? ['minimum', 'value'] : ['minimum']),
  heading: ['DISCOUNT', 'CODE', 'KIND', 'VALUE', 'USED', 'USES', 'FROM', 'UNTIL', 'NAME'],
  row: ({ id, code, kind, value, used, uses, from, until, name }) => [
    id,
    code,
    kind,
    value,
    used,
    uses,
    from,
    until,
    name,
  ],
};

export const shippingCommand = () => settingsCommand('shipping', shipping);
export const taxesCommand = () => settingsCommand('taxes', taxes);
export const discountsCommand = () => settingsCommand('discounts', discounts);

function settingsCommand<Name extends SettingKind>(command: string, settings: Kind<Name>): Command {
  const { kind, noun, heading, row, amounts } = settings;
  const group = new Command(command);
  const settingId = idOf(`a ${noun}`);
  const withMoney = (setting: Setting[Name], code: string): Shown<Setting[Name]> => {
    const texts = amounts(setting);
    const members = Object.entries(setting).map(([name, value]) => [
      name,
      texts.includes(name) ? money(Number(value), code) : value,
    ]);
    return Object.fromEntries(members);
  };
  const shown = (setting: Setting[Name], code: string): string =>
    list(Object.entries(withMoney(setting, code)).map(([name, value]) => [name, plain(value)]));

  withJson(group.command('list').description(`list the ${noun}s`))
    .option('--limit <n>', `the largest number of ${noun}s`, limit, 100)
    .action(async ({ limit: most, ...output }: Output & { limit: number }) => {
      const [found, code] = await withCurrency(({ listSettings }, environment) =>
        listSettings(environment, kind, most),
      );
      const further = found.length === most ? `\n\nThere may be more: use --limit.` : '';
      print(output, found, () =>
        found.length === 0
          ? `There are no ${noun}s.`
          : `${table([heading, ...found.map((setting) => row(withMoney(setting, code)))])}${further}`,
      );
    });
  withJson(group.command('show').description(`show a ${noun}`))
    .argument(`<${noun.replace(' ', '-')}>`, `id of the ${noun}`, settingId)
    .action(async (id: string, output: Output) => {
      const [found, code] = await withCurrency(({ findSetting }, environment) => findSetting(environment, kind, id));
      if (found === undefined) {
        throw new StartError(`there is no ${noun} ${id}: ${operatorCommand('shop', `${command} list`)} shows all`);
      }
      print(output, found, () => shown(found, code));
    });
  const create = withJson(group.command('create').description(`add a ${noun}`));
  for (const { option } of settings.options) create.addOption(option);
  create.action(async ({ json, ...given }: Output & Given) => {
    const body = toPatch(settings, given);
    const [created, code] = await withCurrency(({ createSetting }, environment) =>
      createSetting(environment, kind, body),
    );
    print({ ...(json && { json }) }, created, () => shown(created, code));
  });
  const change = withJson(
    group.command('change').description(`change a ${noun}; orders that were placed keep their prices`),
  );
  change.argument(`<${noun.replace(' ', '-')}>`, `id of the ${noun}`, settingId);
  for (const { option } of settings.options) change.addOption(option);
  change
    .option('--without <member...>', 'removes members, named as `show` does')
    .action(async (id: string, { json, without = [], ...given }: Output & Given & { without?: readonly string[] }) => {
      const patch = { ...toPatch(settings, given), ...Object.fromEntries(without.map((member) => [member, null])) };
      const [changed, code] = await withCurrency(({ changeSetting }, environment) =>
        changeSetting(environment, kind, id, patch),
      );
      print({ ...(json && { json }) }, changed, () => shown(changed, code));
    });
  withJson(group.command('archive').description(`archive a ${noun}; orders that have it are not affected`))
    .argument(`<${noun.replace(' ', '-')}>`, `id of the ${noun}`, settingId)
    .action(async (id: string, output: Output) => {
      const archived = await withOperator('orders', ({ archiveOne }, environment) => archiveOne(environment, kind, id));
      print(output, archived, () => `The ${noun} ${id} is archived.`);
    });
  return group;
}

/** Runs `use`, and returns its result with the currency of the shop. */
function withCurrency<Result>(
  use: (operator: Operator<'orders'>, environment: Environment) => Promise<Result>,
): Promise<readonly [Result, string]> {
  return withOperator('orders', async (operator, environment) => {
    const { code } = readConfig(environment, { code: currency('SHOP_CURRENCY', 'EUR') });
    return [await use(operator, environment), code];
  });
}

type Given = Readonly<Record<string, unknown>>;

/** Returns the members that the options give. */
function toPatch({ options }: Pick<Kind<SettingKind>, 'options'>, given: Given): Record<string, unknown> {
  const patch: Record<string, unknown> = {};
  for (const { option, path = [option.attributeName()] } of options) {
    const value = given[option.attributeName()];
    if (value === undefined) continue;
    const [first = '', second] = path;
    patch[first] = second === undefined ? value : { ...(patch[first] as object | undefined), [second]: value };
  }
  return patch;
}

function plain(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function toNumber(value: string): number {
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(number)) throw new InvalidArgumentError('It must be a number, such as 7.90.');
  return number;
}

function toTexts(value: string, former: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, language = '', words = ''] = /^([A-Za-z0-9-]+)=(.+)$/s.exec(value) ?? [];
  if (language === '') throw new InvalidArgumentError('It must be a language and a text, such as en=Standard.');
  return { ...former, [language]: words };
}

function toDays(value: string): { readonly from: number; readonly to: number } {
  const [, from = '', to = ''] = /^(\d{1,3})-(\d{1,3})$/.exec(value) ?? [];
  if (from === '') throw new InvalidArgumentError('It must be two numbers of days, such as 2-4.');
  return { from: Number(from), to: Number(to) };
}
