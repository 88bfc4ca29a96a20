// `npm run fuzz -- --requests N --seed S`: starts a shop, and sends generated requests to it. Ctrl-C ends the run with
// the report of the requests so far. `--from N` continues the plan of a run that has sent N requests.
import { parseArgs } from 'node:util';
import { fuzz } from './run.ts';
import { startFuzzedShop } from './shop.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    'in-flight': { type: 'string', default: '16' },
  },
});
const [requests, seed, from, inFlight] = [values.requests, values.seed, values.from, values['in-flight']].map(
  Number,
) as [number, number, number, number];
if (![requests, seed, from + 1, inFlight].every((number) => Number.isSafeInteger(number) && number > 0)) {
  process.stderr.write('npm run fuzz -- --requests N --seed S --from N --in-flight N, each a positive integer\n');
  process.exit(1);
}

const shop = await startFuzzedShop();
const ending = new AbortController();
// A signal may arrive twice: from the terminal, and from npm, which passes it on.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ending.abort());
try {
  const progress = (line: string): void => void process.stdout.write(`${line}\n`);
  const report = await fuzz(shop, { requests, seed, from, inFlight, signal: ending.signal, progress });
  // Requests that are still in progress after Ctrl-C fail, because the shop ends, too. They are not reported.
  const [text, kinds] = [report.text(seed), report.faults.size];
  const errors = ending.signal.aborted ? [] : await shop.unexpectedErrors();
  process.stdout.write(`${text}\n`);
  if (errors.length > 0)
    process.stdout.write(`${errors.length} errors in the logs, such as:\n${errors.slice(0, 5).join('\n')}\n`);
  process.exitCode = kinds + errors.length === 0 && report.failure === undefined ? 0 : 1;
} finally {
  await shop.stop();
}
process.exit();
