// `doctor`: checks everything that the shop needs, and states what to do about each fault.
import { ConfigError } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { Command } from 'commander';
import { checkStores } from '../doctor/data-checks.ts';
import { type Finding, failed, ok, warning } from '../doctor/finding.ts';
import { checkConfiguration, checkDataFolder, checkMail, checkNode, checkPort } from '../doctor/host-checks.ts';
import { readWanted, type Wanted } from '../doctor/settings.ts';
import { errorMessage } from '../output/error-message.ts';
import { exitCodes } from '../output/exit-codes.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { coloured, table } from '../output/table.ts';
import { dataFolder, findRunning } from '../shop/data-folder.ts';
import { hasShop, withShop } from '../shop/open-shop.ts';
import { requireNpm } from '../shop/require-npm.ts';
import { givenEnvironment, readSettings, type Settings } from '../shop/settings.ts';
import { readProcesses } from './status.ts';

const colours = { ok: 'green', warning: 'yellow', failed: 'red' } as const;

export function doctorCommand(): Command {
  return withJson(new Command('doctor')).action(async (output: Output) => {
    const findings = await examine();
    const well = findings.every(({ state }) => state !== 'failed');
    if (!well) process.exitCode = exitCodes.failed;
    print(output, { well, findings }, () => describe(findings));
  });
}

async function examine(): Promise<Finding[]> {
  requireNpm('doctor', operatorCommand('examine'));
  const given = givenEnvironment();
  const general = [checkNode(), ...(await checkConfiguration(given))];
  let settings: Settings;
  let wanted: Wanted;
  try {
    settings = readSettings(given);
    wanted = readWanted(given);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return general;
  }
  const folder = dataFolder(settings.dataDir);
  const findings = [...general, ...(await checkDataFolder(folder))];
  const running = await findRunning(folder);
  if (running === undefined) findings.push(await checkPort(settings));
  for (const { name, state, failing } of await readProcesses(running?.processes ?? {})) {
    const why = failing.length > 0 ? `${state}: ${failing.join(', ')}` : state;
    findings.push(state === 'ready' ? ok(name, state) : failed(name, why, operatorCommand('logs', name)));
  }
  if (settings.databaseUrl === undefined && !(await hasShop(folder))) {
    return [
      ...findings,
      warning('shop', `there is none in ${folder.path} yet`, `${operatorCommand('start')} makes one`),
    ];
  }
  findings.push(await checkMail(wanted, folder));
  const stores = await withShop((shop) => checkStores(shop, wanted), { migrate: false }).catch((error: unknown) => [
    failed('database', errorMessage(error), `look into ${folder.postgres}/postgres.log`),
  ]);
  return [...findings, ...stores];
}

function describe(findings: readonly Finding[]): string {
  const rows = findings.map(({ check, state, detail }) => [check, state, detail]);
  const advice = findings
    .filter(({ remedy }) => remedy !== undefined)
    .map(({ check, remedy }) => `${check}: ${remedy}`);
  const verdict =
    advice.length === 0 ? [coloured('All is well.', { 'All is well.': 'green' })] : ['What to do:', ...new Set(advice)];
  return `${table([['CHECK', 'STATE', 'WHAT'], ...rows], colours)}\n\n${verdict.join('\n')}`;
}
