// A member of a product or an account is added with three edits: a migration, a line of the table of columns, and a
// member of the contract. The tests of the columns then find it in every operation.
import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleDocument, toNode } from '@shop/shared/contract';
import { plainEnvironment } from '@shop/shared/testing';
import { copyCheckout } from '../../test/faults/outages/copy-checkout.ts';

/** Resource → its member, and the three edits. A line is added after the first one that contains `after`. */
const edits = {
  catalogue: {
    member: 'material',
    migration: 'ALTER TABLE products ADD COLUMN material text CHECK (char_length(material) BETWEEN 1 AND 100);\n',
    table: {
      file: 'src/product/product-columns.ts',
      after: '  attributes: {',
      line: "  material: { column: 'material', type: textColumn(100), filter: matched, sort: true },",
    },
    contract: {
      file: 'openapi.yaml',
      after: '    NewProduct:\n',
      line: '        material: { type: string, minLength: 1, maxLength: 100, description: What it is made of. }',
    },
  },
  accounts: {
    member: 'pet_name',
    migration: 'ALTER TABLE accounts ADD COLUMN pet_name text CHECK (char_length(pet_name) BETWEEN 1 AND 40);\n',
    table: {
      file: 'src/account/account-columns.ts',
      after: '  locale: {',
      line: "  pet_name: { type: DataTypes.TEXT, inEvents: 'absent', forStaff: text(40) },",
    },
    contract: {
      file: 'openapi.yaml',
      after: '    NewAccount:\n',
      line: '        pet_name: { type: string, minLength: 1, maxLength: 40 }',
    },
  },
} as const;
type Service = keyof typeof edits;
const services = Object.keys(edits) as Service[];

let checkout: string;

/** @returns what the program wrote. @throws Error with its output when it fails */
async function run(...command: [string, ...string[]]): Promise<string> {
  const [program, ...parameters] = command;
  const options = { cwd: checkout, env: plainEnvironment(), maxBuffer: 64 * 1024 ** 2 };
  const { stdout, stderr } = await promisify(execFile)(program, parameters, options).catch((error) => {
    throw new Error(`${command.join(' ')}:\n${error.stdout}${error.stderr}`);
  });
  return stdout + stderr;
}

const pathOf = (service: Service, file: string): string => join(checkout, 'services', service, file);

beforeAll(async () => {
  checkout = copyCheckout();
  for (const service of services) {
    const { member, migration, table, contract } = edits[service];
    writeFileSync(pathOf(service, `migrations/9000_${member}.sql`), migration);
    addLine(pathOf(service, table.file), table.after, table.line);
    addLine(pathOf(service, contract.file), contract.after, contract.line, '      properties:\n');
  }
  await run(process.execPath, 'client/generate.ts');
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

/** Adds a line after the line with `after`, or after the first `then` that follows it. */
function addLine(file: string, after: string, line: string, then = after): void {
  const text = readFileSync(file, 'utf8');
  const found = text.indexOf(then, text.indexOf(after));
  const end = text.indexOf('\n', found) + 1;
  if (found < 0) throw new Error(`${file} has no line with ${after}`);
  writeFileSync(file, `${text.slice(0, end)}${line}\n${text.slice(end)}`);
}

function schemasIn(file: string): Readonly<Record<string, { readonly properties: object }>> {
  const { schemas } = toNode(bundleDocument(join(checkout, file)).components);
  return schemas as ReturnType<typeof schemasIn>;
}

describe('a member that three edits add', () => {
  it('a member that three edits add is in each schema of the contracts that repeats the members', () => {
    const catalogue = schemasIn('services/catalogue/openapi.yaml');
    const named = (schemas: object, names: readonly string[], member: string) =>
      names.map((name) => expect(schemas).toHaveProperty([name, 'properties', member]));
    named(catalogue, ['NewProduct', 'ProductPatch', 'Product', 'ProductView', 'ProductFilters'], 'material');
    expect(catalogue.ProductSearch?.properties).toMatchObject({
      filters: { properties: { material: expect.anything() } },
      fields: { items: { enum: expect.arrayContaining(['material']) } },
      sort: { items: { properties: { field: { enum: expect.arrayContaining(['material']) } } } },
    });
    const accounts = schemasIn('services/accounts/openapi.yaml');
    named(accounts, ['NewAccount', 'AccountPatch', 'Account', 'FoundAccount'], 'pet_name');
    expect(accounts.AccountExport).toHaveProperty(['properties', 'account', 'properties', 'pet_name']);
    const events = schemasIn('shared/contracts/events.yaml');
    expect(events['product.created.v1']).toHaveProperty(['properties', 'material']);
    expect(events['account.registered.v1']).toHaveProperty(['properties', 'petName']);
  });

  it('a member that three edits add is in the documents, which stay valid and compatible, and in the types of all packages', async () => {
    const programs = ['tools/check-documents.ts', 'tools/compatibility/check.ts'];
    await Promise.all(programs.map((program) => run(process.execPath, program)));
    await run('npx', '--no-install', 'tsc', '--project', 'tsconfig.json');
    const types = readFileSync(join(checkout, 'client/src/contract.ts'), 'utf8');
    for (const service of services) expect(types).toContain(`${edits[service].member}?: string | null;`);
  });

  it('a member that three edits add passes every operation of products and accounts', async () => {
    const files = services.map((service) => `services/${service}/test/columns.test.ts`);
    const jest = ['node_modules/jest/bin/jest.js', '--verbose'];
    const output = await run(process.execPath, ...jest, ...files);
    for (const service of services) {
      const tests = output.match(new RegExp(`✓ the member ${edits[service].member} of .+`, 'g')) ?? [];
      expect(tests.length).toBeGreaterThanOrEqual(3);
    }
  });
});
