// Shows that the outage tests bite: removes one guard at a time from a copy of the checkout and expects them to fail.
// Run by hand, it takes a few minutes: node test/outages/mutations.ts
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Names of the tests that have to notice. */
  readonly tests: string;
}

const mutations: readonly Mutation[] = [
  {
    name: 'the idempotency row is not written',
    file: 'shared/src/http/idempotent.ts',
    find: '    await keep(tx, scope, fingerprint, reply);\n',
    replace: '',
    tests: 'after COMMIT before the answer',
  },
  {
    name: 'a returned message counts as published',
    file: 'shared/src/events/relay.ts',
    find: "ids('confirmed')",
    replace: 'rows.map(({ id }) => id)',
    tests: 'the inventory queue is deleted|the broker is stopped and started|blocks publishers',
  },
  {
    name: 'reservations are not settled',
    file: 'services/catalogue/src/settle-reservations.ts',
    find: "if (answer.state === 'absent') await giveStockBack(tx, id, null);",
    replace: '',
    tests: 'between reservation and order',
  },
  {
    name: 'products are locked in the order of the request',
    file: 'services/catalogue/src/reserve-stock.ts',
    find: 'ORDER BY id FOR NO KEY UPDATE',
    replace: 'ORDER BY array_position($1::uuid[], id) FOR NO KEY UPDATE',
    tests: 'opposite order',
  },
  {
    name: 'a released reservation is released again',
    file: 'services/catalogue/src/on-order-cancelled.ts',
    find: "if (reservation?.state === 'released' && reservation.orderId === orderId) return;",
    replace: '',
    tests: 'ten times',
  },
];

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A copy of the checkout with the same packages installed, the workspaces being the copy's own. */
function copyCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'shop-mutation-'));
  const packages: string[] = [];
  cpSync(root, copy, {
    recursive: true,
    filter(path) {
      if (basename(path) === 'node_modules') packages.push(relative(root, path));
      return !['node_modules', '.data', '.git'].includes(basename(path));
    },
  });
  for (const folder of packages) {
    mkdirSync(join(copy, folder));
    for (const entry of readdirSync(join(root, folder))) {
      if (entry === '@shop')
        cpSync(join(root, folder, entry), join(copy, folder, entry), { recursive: true, verbatimSymlinks: true });
      else symlinkSync(join(root, folder, entry), join(copy, folder, entry));
    }
  }
  return copy;
}

let unnoticed = 0;
for (const mutation of mutations) {
  const copy = copyCheckout();
  try {
    const path = join(copy, mutation.file);
    const source = readFileSync(path, 'utf8');
    if (!source.includes(mutation.find))
      throw new Error(`${mutation.file} no longer has the line of "${mutation.name}"`);
    writeFileSync(path, source.replace(mutation.find, mutation.replace));
    const { status } = spawnSync('npm', ['test', '--', 'test/outages', '-t', mutation.tests], {
      cwd: copy,
      stdio: 'ignore',
    });
    if (status === 0) unnoticed += 1;
    console.log(`${status === 0 ? 'UNNOTICED' : 'noticed  '}  ${mutation.name}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
process.exitCode = unnoticed === 0 ? 0 : 1;
