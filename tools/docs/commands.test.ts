// Every command of the command line that a page, a runbook, the board or a message names can be run as it is written.
// The test runs each of them on a running shop, with values in place of words such as ORDER.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createShop } from '@shop/client';
import { consumers } from '@shop/shared/events';
import { newId } from '@shop/shared/runtime';
import { eventually } from '@shop/shared/testing';
import type { Command } from 'commander';
import { shopProgram } from '../../cli/src/program.ts';
import { askShop, queryShop, runningShop, runShop } from '../../cli/test/started-shop.ts';
import { type RunningShop, startShop } from '../../test/running-shop.ts';
import { partsOf } from '../../web/src/board/part-states.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const password = 'a long and quiet river';

/** The commands that this test does not run: how they begin → why. */
const notRun: readonly (readonly [string, string])[] = [
  ['restore /', 'it needs a folder without a shop; cli/test/backup.test.ts restores'],
  ['restore FOLDER', 'the same'],
  ['new-service', 'it writes into the checkout; tools/new-service has its tests'],
  [
    'accounts verify-erased',
    'it needs an erasure that every service has finished; test/system/erasure.test.ts runs it',
  ],
  ['invoices show', 'the shop of the test writes none; services/orders/test/invoices.test.ts shows one'],
  ['changes tail', 'it ends with Ctrl-C; cli/test/webhooks-commands.test.ts runs it'],
  ...['show', 'attempts', 'pause', 'resume', 'replay', 'why'].map(
    (verb) => [`webhooks ${verb}`, 'it needs a webhook; cli/test/webhooks-commands.test.ts runs it'] as const,
  ),
  ['orders restore --all', 'it is a command of 1.1.0; services/orders/test/archived-orders.test.ts does what it does'],
];

const program = await shopProgram();

/** The command with its own words, such as `orders ship`. */
function commandOf(words: readonly string[]): { command: Command; name: string } {
  let command = program;
  const path: string[] = [];
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    command = next;
    path.push(word);
  }
  return { command, name: path.join(' ') };
}

/**
 * A command of a text as words, without its prefix and the comment behind it; undefined when it is another program's.
 */
function wordsOf(text: string, names: ReadonlySet<string>): string[] | undefined {
  if (!/^[a-z]/.test(text)) return undefined;
  const plain = text.replace(/\s+#.*$/, '').replace(/^(?:npm run shop -- |shop )/, '');
  const words = [...plain.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? '');
  return names.has(words[0] ?? '') && words.length > 1 ? words : undefined;
}

/** The commands of the texts: each with whether it is only the name of a command. */
function commandsOfTexts(): Map<string, string[]> {
  const names = new Set(program.commands.map((command) => command.name()));
  const found = new Map<string, string[]>();
  const add = (text: string): void => {
    const words = wordsOf(text, names);
    if (words === undefined) return;
    const { command, name } = commandOf(words);
    const isPrefixed = /^(?:npm run )?shop /.test(text);
    // A text may name a command, also with an option, without the parameters that it needs.
    const others = words.slice(name.split(' ').length);
    const isOnlyOptions = others.every((word) => command.options.some(({ long }) => long === word));
    const needsMore = command.commands.length > 0 || command.registeredArguments.length > 0;
    if (isPrefixed || !isOnlyOptions || !needsMore) found.set(words.join(' '), words);
  };
  for (const folder of ['docs', 'docs/runbooks'])
    for (const file of readdirSync(join(root, folder)).filter((one) => one.endsWith('.md'))) {
      const text = readFileSync(join(root, folder, file), 'utf8');
      for (const [, block = ''] of text.matchAll(/^ *```(?:sh|)\n(.*?)^ *```$/gms))
        for (const line of block.split('\n').filter((one) => /^ *(?:npm run )?shop /.test(one))) add(line.trim());
      for (const [, code = ''] of text.replaceAll(/^ *```.*?^ *```$/gms, '').matchAll(/`([^`\n]+)`/g)) add(code);
    }
  return found;
}

/** The words of every message that names a command, from the sources. */
function commandsOfMessages(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const names = new Set(program.commands.map((command) => command.name()));
  const folders = [
    'cli/src',
    'gateway/src',
    'web/src',
    ...readdirSync(join(root, 'services')).map((name) => `services/${name}/src`),
  ];
  for (const folder of folders)
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts')) continue;
      const text = readFileSync(join(root, folder, file), 'utf8');
      for (const [, , words = ''] of text.matchAll(/operatorCommand\('shop', (['`])(.*?)\1\)/g)) {
        // A command whose verb is a variable is tested where its text is shown.
        if (/\$\{(?:verb|step)\}/.test(words)) continue;
        const parts = wordsOf(
          words.replaceAll(/\$\{(?:quoted\()?(\w+)\)?\}/g, (_, name: string) => name.toUpperCase()),
          names,
        );
        if (parts !== undefined) found.set(parts.join(' '), parts);
      }
    }
  return found;
}

/** Commands in a sentence, up to the verb or punctuation behind each. */
function commandsIn(sentence: string): string[] {
  return [...sentence.matchAll(/npm run shop -- (.+?)(?= shows| tries|[.,:)]|$)/gm)].map(([, words = '']) => words);
}

describe('a running shop', () => {
  let shop: RunningShop;
  let staff: string;
  let file: string;
  beforeAll(async () => {
    shop = await startShop();
    file = join(dirname(shop.dataDir), 'products.csv');
    ({ email: staff } = await newAccount());
    await shop.grant(staff, 'orders:fulfil', 'catalogue:write');
    await run('products', 'export', file);
  });
  afterAll(() => shop?.stop());

  async function run(...words: string[]): Promise<string> {
    const { code, output, complaints } = await runShop(shop.dataDir, ...words);
    expect([words.join(' '), code, complaints]).toEqual([words.join(' '), 0, expect.any(String)]);
    return output;
  }

  async function newAccount(): Promise<{ email: string; id: string }> {
    const email = `${randomUUID()}@example.com`;
    const { data } = await createShop({ baseUrl: shop.url }).call.POST('/v1/accounts', {
      body: { email, name: 'Kim', password },
    });
    await run('accounts', 'verify-email', email);
    return { email, id: data?.id ?? '' };
  }

  /** Places an order and takes the steps. */
  async function newOrder(...steps: string[]): Promise<string> {
    const client = createShop({ baseUrl: shop.url });
    await client.logIn({ email: (await newAccount()).email, password });
    const { id } = await client.orders.place({ items: [{ productId: await anyProduct(), quantity: 1 }] });
    for (const step of steps) await run('orders', step, id);
    return id;
  }

  /** Requests a return of an order that has shipped. */
  async function newReturn(): Promise<string> {
    const client = createShop({ baseUrl: shop.url });
    await client.logIn({ email: (await newAccount()).email, password });
    const productId = await anyProduct();
    const { id: orderId } = await client.orders.place({ items: [{ productId, quantity: 1 }] });
    for (const step of ['process', 'ship']) await run('orders', step, orderId);
    const lines = [{ productId, quantity: 1, reason: 'other' as const }];
    return (await client.orders.createReturn(orderId, { lines })).id;
  }

  const consumersOfShipped = Object.values(consumers).filter((types: readonly string[]) =>
    types.includes('order.shipped.v1'),
  );

  async function newDeadLetter(): Promise<string> {
    const statement = `INSERT INTO outbox (id, type, subject, sequence, request_id, data)
      VALUES ($1, 'order.shipped.v9', $2, 1, 'of-the-test', '{}')`;
    const id = newId();
    await queryShop(await runningShop(shop.dataDir), 'orders', statement, [id, newId()]);
    return eventually(async () => {
      const letters = await askShop<{ id: string }[]>(shop.dataDir, 'events', 'dead', 'list');
      // All consumers have given it up, so a replay does not race with the last one.
      expect(letters.filter((letter) => letter.id === id)).toHaveLength(consumersOfShipped.length);
      return id;
    }, 30_000);
  }

  async function newMachine(): Promise<string> {
    const name = `machine-${randomUUID().slice(0, 8)}`;
    await run('machines', 'create', name, '--scope', 'payments:write');
    return name;
  }

  async function newListener(): Promise<string> {
    const name = `listener_${randomUUID().slice(0, 8)}`;
    await run('listeners', 'add', name, '--types', 'order.created.v1');
    return name;
  }

  async function newSetting(...create: [command: string, ...options: string[]]): Promise<string> {
    const [command, ...options] = create;
    return (await askShop<{ id: string }>(shop.dataDir, command, 'create', ...options)).id;
  }

  async function sentEmail(): Promise<string> {
    const order = await newOrder();
    return eventually(async () => {
      const [email] = await askShop<{ id: string; status: string }[]>(shop.dataDir, 'emails', 'list', order);
      expect(email?.status).toBe('sent');
      return email?.id ?? '';
    }, 30_000);
  }

  async function newBackup(): Promise<string> {
    const folder = join(dirname(shop.dataDir), `backup-${randomUUID()}`);
    await run('backup', folder);
    return folder;
  }

  async function anyProduct(): Promise<string> {
    const answer = (await (await fetch(new URL('/v1/products?inStock=true&limit=1', shop.url))).json()) as {
      items: { id: string }[];
    };
    return answer.items[0]?.id ?? '';
  }

  /** What a command works on: its name → a value for its first word in capital letters. */
  const subjects: readonly (readonly [RegExp, () => Promise<string>])[] = [
    [/^orders deliver/, () => newOrder('process', 'ship')],
    [/^orders ship/, () => newOrder('process')],
    [/^(?:orders|trace|emails list)/, () => newOrder()],
    [/^returns/, newReturn],
    [/^emails resend/, sentEmail],
    [/^accounts erase/, async () => (await newAccount()).id],
    [/^accounts unblock/, async () => blocked()],
    [/^(?:accounts|staff)/, async () => (await newAccount()).email],
    [/^machines create/, async () => `machine-${randomUUID().slice(0, 8)}`],
    [/^machines/, newMachine],
    [/^events dead/, newDeadLetter],
    [/^listeners add/, async () => `listener_${randomUUID().slice(0, 8)}`],
    [/^listeners/, newListener],
    [/^shipping (?!create)/, () => newSetting('shipping', '--name', 'en=Parcel', '--price', '0')],
    [
      /^taxes (?!create)/,
      () => newSetting('taxes', '--country', 'CH', '--region', randomUUID(), '--rate', '8', '--name', 'VAT'),
    ],
    [
      /^discounts/,
      () => newSetting('discounts', '--name', 'Sale', '--kind', 'percent', '--value', '5', '--minimum', '900000'),
    ],
    [/^products history/, anyProduct],
    [/^products/, async () => file],
    [/^logs/, async () => 'orders'],
    [/^seed/, async () => '3'],
    [/^restore/, newBackup],
    [/^backup/, async () => join(dirname(shop.dataDir), `backup-${randomUUID()}`)],
  ];

  async function blocked(): Promise<string> {
    const { email } = await newAccount();
    await run('accounts', 'block', email, '--reason', 'test');
    return email;
  }

  /**
   * The words of a command with values for what they leave open: words in capital letters, ids, addresses and files.
   */
  async function filled(words: readonly string[]): Promise<string[]> {
    const { name } = commandOf(words);
    const subject = subjects.find(([pattern]) => pattern.test(name))?.[1];
    const isOpen = (word: string): boolean =>
      /^(?:[A-Z][A-Z_-]*…?|[\da-f]{8}-[\da-f-]{27}|\/(?:backups|tmp)\/\S+|\S+@example\.com|payments-adapter)$/.test(
        word,
      );
    let isFirst = true;
    const values: string[] = [];
    for (const [index, word] of words.entries()) {
      const option = words[index - 1] ?? '';
      if (option === '--as') values.push(staff);
      else if (option === '--reason') values.push('for the test');
      else if (word === 'COUNTRY') values.push('AT');
      else if (/^SCOPE/.test(word)) values.push(name.startsWith('machines') ? 'payments:write' : 'orders:fulfil');
      else if (/^TYPE/.test(word)) values.push('order.created.v1');
      else if (option === '--account') values.push((await newAccount()).id);
      else if (isOpen(word) && isFirst) {
        isFirst = false;
        values.push((await subject?.()) ?? word);
      } else values.push(word);
    }
    return values;
  }

  it('a running shop runs every command that the documentation, a runbook or a message names', async () => {
    const all = [...new Map([...commandsOfTexts(), ...commandsOfMessages()])].filter(
      ([text]) => !notRun.some(([begin]) => text.startsWith(begin)),
    );
    expect(all.length).toBeGreaterThan(40);
    const refused: string[] = [];
    for (const [text, words] of all) {
      const values = await filled(words);
      if (words[0] === 'products' && words[1] === 'export') await rm(file, { force: true });
      const { code, output, complaints } = await runShop(shop.dataDir, ...values);
      if (code !== 0) refused.push(`${text}: ${code} ${output}${complaints}`);
    }
    expect(refused).toEqual([]);
  });

  it('a running shop runs every remedy that status, orders show and the board print', async () => {
    await newDeadLetter();
    const status = (await runShop(shop.dataDir, 'status')).output;
    const order = await run('orders', 'show', await newOrder());
    const queue = { consumer: 'catalogue.inventory', waiting: 0, delayed: 0, dead: 1 };
    const parts = partsOf(new Map(), { processes: [], queues: [queue], operations: [] } as never);
    const board = parts.flatMap(({ faults }) => faults.map(({ todo }) => todo)).join('\n');
    const printed = [status, order, board].map(commandsIn);
    expect(printed.map((commands) => commands.length)).toEqual([2, 2, 2]);
    // An order that is cancelled cannot be processed.
    for (const text of printed.flat().toSorted().toReversed()) {
      const { code, output, complaints } = await runShop(shop.dataDir, ...text.split(' '));
      expect([text, code, output, complaints]).toEqual([text, 0, output, '']);
    }
  });
});
