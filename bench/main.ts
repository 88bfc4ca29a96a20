// `npm run bench -- <name>`: runs one benchmark by its name.

/** Each file's default export takes the arguments after the name. */
const benchmarks: Readonly<Record<string, string>> = {
  changes: './changes.ts',
  collections: './collections.ts',
  gateway: './gateway.ts',
  hostile: './hostile.ts',
  import: './import.ts',
  orders: './orders.ts',
  pages: './pages.ts',
  relay: './relay.ts',
  search: './search.ts',
  timing: './timing.ts',
};

const [name = '', ...options] = process.argv.slice(2);
const file = Object.hasOwn(benchmarks, name) ? benchmarks[name] : undefined;
if (file === undefined) {
  process.stderr.write(`npm run bench -- <name>, where <name> is one of: ${Object.keys(benchmarks).join(', ')}\n`);
  process.exit(1);
}
const { default: run } = (await import(file)) as { default: (options: readonly string[]) => Promise<void> };
await run(options);
