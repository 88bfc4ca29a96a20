// Proves that the tests of outages and of cached pages can fail: removes one guard at a time from a copy of the
// checkout, and expects a failure.
//
// node test/faults/outages/mutations.ts            all guards; about five minutes on two cores
// node test/faults/outages/mutations.ts inbox      those whose name contains this word
// node test/faults/outages/mutations.ts page       those of cached pages
//
// Prints a line for each guard, and exits with 0 when every removal caused a failure. A guard that is not found in its
// file is an error.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyCheckout } from './copy-checkout.ts';

interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
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
];

/** Returns the outcome: the expected failure, no failure, or a failure with another text. */
function tryOut({ name, file, find, replace, suite = 'test/faults/outages', test, notice }: Mutation): string {
  const copy = copyCheckout();
  try {
    const path = join(copy, file);
    const source = readFileSync(path, 'utf8');
    if (!source.includes(find)) throw new Error(`${file} no longer has the line of "${name}"`);
    writeFileSync(path, source.replace(find, replace));
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
