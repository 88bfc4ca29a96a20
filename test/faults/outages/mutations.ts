// Proves that the tests of outages and of cached pages can fail: removes one guard at a time from a copy of the
// checkout, or makes another mistake, and expects a failure.
//
// node test/faults/outages/mutations.ts            all guards; about fifteen minutes on two cores
// node test/faults/outages/mutations.ts inbox      those whose name contains this word
// node test/faults/outages/mutations.ts page       those of cached pages
// node test/faults/outages/mutations.ts price:     those of discounts, returns and invoices
//
// Prints a line for each guard, and exits with 0 when every removal caused a failure. A guard that is not found in its
// file is an error.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyCheckout } from './copy-checkout.ts';

interface Edit {
  readonly find: string;
  readonly replace: string;
}

interface Mutation extends Edit {
  readonly name: string;
  readonly file: string;
  /** A second edit of the file. */
  readonly and?: Edit;
  /** The tests to run; default the outage tests. */
  readonly suite?: string;
  /** The test that must fail. */
  readonly test: string;
  /** The expected text of the failure, so that another cause does not count. */
  readonly notice: RegExp;
}

const mutations: readonly Mutation[] = [
  {
    name: 'the inbox key keeps nothing back',
    file: 'shared/src/events/consume.ts',
    find: 'const fresh = arrivals.filter((arrival) => entered.has(arrival));',
    replace: 'const fresh = arrivals;',
    test: 'delivered ten times',
    notice: /their handlers ran \d+ times/,
  },
  {
    name: 'products are not locked in sorted order',
    file: 'services/catalogue/src/operations/reserve-stock.ts',
    find: 'ORDER BY id FOR NO KEY UPDATE',
    replace: 'ORDER BY array_position($4::uuid[], id) FOR NO KEY UPDATE',
    test: 'opposite order',
    notice: /deadlocks|refused while nothing/,
  },
  {
    name: 'a returned message counts as published',
    file: 'shared/src/events/relay/relay.ts',
    find: "ids('confirmed')",
    replace: 'rows.map(({ id }) => id)',
    test: 'a binding is taken away',
    notice: /events not taken by orders\.effects|pending cancellations/,
  },
  {
    name: 'the idempotency row is not written',
    file: 'shared/src/http/idempotent.ts',
    find: '      await keep(tx, scope, fingerprintsOf(request, secrets[0]), result);\n',
    replace: '',
    test: 'die after COMMIT before the answer',
    notice: /exists and nobody was told of it|could not register/,
  },
  {
    name: 'a read-only database counts as a fault of the shop',
    file: 'shared/src/database/pg-errors.ts',
    find: "  '25006': 'read-only SQL transaction: a standby, or a former primary',\n",
    replace: '',
    test: 'the database is read-only',
    notice: /answered as it never should be|was not seen to happen|took effect at attempt|was ready while/,
  },
  {
    name: 'a former primary of a cluster counts as a fault of the shop',
    file: 'shared/src/database/pg-errors.ts',
    find: "  '25006': 'read-only SQL transaction: a standby, or a former primary',\n",
    replace: '',
    suite: 'test/faults/clusters',
    test: 'the primary is switched over|etcd loses its majority',
    notice: /answered as it never should be/,
  },
  {
    name: 'an e-mail that is claimed can be claimed again',
    file: 'services/notifications/src/email/notification-queue.ts',
    find: 'THEN send_at ELSE now() + ',
    replace: 'THEN send_at ELSE now() + 0 * ',
    test: 'one orders process is killed',
    notice: /the e-mail \S+ was sent again/,
  },
  {
    name: 'reservations are not resolved',
    file: 'services/catalogue/src/jobs/resolve-reservations.ts',
    find: "if (answer.state === 'absent') await releaseStock(tx, id, null, { actor: 'system' });",
    replace: '',
    test: 'the buyer with them',
    notice: /held reservations/,
  },
  {
    name: 'a page that was read before a change is kept after it',
    file: 'shared/src/collection/cache/page-cache.ts',
    find: 'if (!this.#changes.some((change) => affects(change, range))) this.#store',
    replace: 'this.#store',
    suite: 'page-cache',
    test: 'arrives while it is read',
    notice: /expect\(received\)/,
  },
  {
    name: 'a page that showed a changed row stays',
    file: 'shared/src/collection/cache/page-range.ts',
    find: " || sideOf(range, before) === 'on'",
    replace: '',
    suite: 'page-cache',
    test: 'get the pages that a process without kept pages reads',
    notice: /"page": /,
  },
  {
    name: 'a page on which a changed row now belongs stays',
    file: 'shared/src/collection/cache/page-range.ts',
    find: "side === 'on' || ",
    replace: '',
    suite: 'page-cache',
    test: 'get the pages that a process without kept pages reads',
    notice: /"page": /,
  },
  {
    name: 'a page stays when nothing is left behind it',
    file: 'shared/src/collection/cache/page-range.ts',
    find: " || (id === range.nextRowId && side !== 'after')",
    replace: '',
    suite: 'page-cache',
    test: 'is dropped exactly when a change makes it another one',
    notice: /Property failed/,
  },
  {
    name: 'pages stay when changes were missed',
    file: 'services/catalogue/src/pages/product-pages.ts',
    find: 'missed: () => cache.clear(),',
    replace: 'missed: () => {},',
    suite: 'page-cache',
    test: 'is not used after the connection for changes was lost',
    notice: /expect\(received\)/,
  },
  {
    name: 'price: a use is given back twice',
    file: 'services/orders/src/settings/discount-uses.ts',
    find: 'SET used = present.used - 1',
    replace: 'SET used = greatest(present.used - 2, 0)',
    test: 'one orders process is killed',
    notice: /has \d+ uses of at most/,
  },
  {
    name: 'price: no use is given back',
    file: 'services/orders/src/order/record-cancellation.ts',
    find: '  await giveBackUse(tx, order.pricing?.counted ?? [], order.accountId);\n',
    replace: '',
    test: 'one orders process is killed',
    notice: /has \d+ uses of at most/,
  },
  {
    name: 'price: a discount is used more often than its bound',
    file: 'services/orders/src/settings/discount-uses.ts',
    find: 'WHERE present.used < (SELECT maximum',
    replace: 'WHERE 0 < (SELECT maximum',
    and: { find: 'used >= uses', replace: 'used - 1_000 >= uses' },
    test: 'one orders process is killed',
    notice: /has \d+ uses of at most/,
  },
  {
    name: 'price: a use is counted in another transaction than the order',
    file: 'services/orders/src/order/place-order.ts',
    find: '{ orders, paymentDueMinutes, log }: OrdersContext',
    replace: '{ orders, paymentDueMinutes, log, database }: OrdersContext',
    and: {
      find: 'await countUse(tx, order.limitedDiscounts, accountId)',
      replace: 'await database.transaction((other) => countUse(other, order.limitedDiscounts, accountId))',
    },
    test: 'die before COMMIT',
    notice: /has \d+ uses of at most/,
  },
  {
    name: 'price: the number of an invoice is taken in another transaction than the invoice',
    file: 'services/orders/src/invoices/issue-invoice.ts',
    find: `  if (seller === undefined) return undefined;
`,
    replace: `  if (seller === undefined) return undefined;
  await (arguments[1] as never as OrderStore).database.transaction((other) =>
    sql(other, \`INSERT INTO invoice_numbers AS series SELECT 'invoice', extract(year FROM now() AT TIME ZONE 'UTC'), 1
      ON CONFLICT (kind, year) DO UPDATE SET last = 1 + series.last\`),
  );
`,
    and: { find: 'SET last = series.last + 1', replace: "SET last = series.last + ($1 <> 'invoice')::int" },
    test: 'take effect once when the processes die before COMMIT',
    notice: /has a gap or a number twice/,
  },
  {
    name: 'price: an order that ships gets no invoice',
    file: 'services/orders/src/order/advance-order.ts',
    find: "to === 'shipped' ? await issueInvoice(tx, writer, order)",
    replace: 'undefined !== undefined ? await issueInvoice(tx, writer, order)',
    test: 'take effect once when the processes die before COMMIT',
    notice: /has the documents/,
  },
  {
    name: 'price: a return gets no credit note',
    file: 'services/orders/src/invoices/issue-invoice.ts',
    find: 'if (sums.lines.length === 0) return undefined;',
    replace: 'if (sums.lines.length >= 0) return undefined;',
    test: 'take effect once when the processes die before COMMIT',
    notice: /has the documents/,
  },
  {
    name: 'price: units that came back go twice into the stock',
    file: 'services/catalogue/src/handlers/on-return-received.ts',
    find: 'const units = data.lines.filter((line) => line.restock);',
    replace:
      'const units = data.lines.filter((each) => each.restock).map((each) => ({ ...each, quantity: 2 * each.quantity }));',
    test: 'take effect once when the processes die before COMMIT',
    notice: /at first, \d+ on hand|the stock of|units for the stock are/,
  },
  {
    name: 'price: units that are not sold again go into the stock',
    file: 'services/catalogue/src/handlers/on-return-received.ts',
    find: 'data.lines.filter((line) => line.restock)',
    replace: 'data.lines',
    and: { find: 'data.lines.some((line) => line.restock)', replace: 'data.lines.length > 0' },
    test: 'one orders process is killed',
    notice: /at first, \d+ on hand/,
  },
  {
    name: 'price: the order does not show the units that came back',
    file: 'services/orders/src/returns/receive-return.ts',
    find: 'SET returned_quantity = given.quantity',
    replace: 'SET returned_quantity = 0 * given.quantity',
    test: 'one orders process is killed',
    notice: /returned units of/,
  },
  {
    name: 'price: a return pays the price back without the discount',
    file: 'services/orders/src/returns/receive-return.ts',
    find: 'const costMinor = priceOf(before) - priceOf(after);',
    replace: `const costMinor = before.reduce((sum, { productId, unitPriceMinor }) =>
      sum + unitPriceMinor * (units.get(productId) ?? 0), 0);`,
    test: 'one orders process is killed',
    notice: /its refunds of returns is|does not add up/,
  },
  {
    name: 'price: a cancelled unit costs as much as before',
    file: 'services/orders/src/order/cancel-lines.ts',
    find: 'total_minor = $10,',
    replace: 'total_minor = total_minor + 0 * $10,',
    test: 'one orders process is killed',
    notice: /and its total is/,
  },
];

/** Returns the outcome: the expected failure, no failure, or a failure with another text. */
function tryOut({ name, file, and, suite = 'test/faults/outages/outages', test, notice, ...edit }: Mutation): string {
  const copy = copyCheckout();
  try {
    const path = join(copy, file);
    let source = readFileSync(path, 'utf8');
    for (const { find, replace } of [edit, ...(and ? [and] : [])]) {
      if (!source.includes(find)) throw new Error(`${file} no longer has the line of "${name}"`);
      source = source.replace(find, () => replace);
    }
    writeFileSync(path, source);
    const { status, stdout, stderr } = spawnSync('npm', ['test', '--', suite, '-t', test], {
      cwd: copy,
      env: { ...process.env, OUTAGE_PATIENCE: '30' },
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    if (status === 0) return 'NOT NOTICED';
    return notice.test(stdout + stderr) ? 'noticed' : `FAILED FOR ANOTHER REASON\n${(stdout + stderr).slice(0, 5_000)}`;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const [word = ''] = process.argv.slice(2);
for (const mutation of mutations.filter(({ name }) => name.includes(word))) {
  const outcome = tryOut(mutation);
  if (outcome !== 'noticed') process.exitCode = 1;
  console.log(`${mutation.name}: ${outcome}`);
}
