// Runs a script that belongs to one service, which knows its tables, and takes the JSON that it writes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type ServiceName, StartError } from '@shop/shared/runtime';
import type { OpenShop } from './open-shop.ts';
import { scriptEnvironment } from './processes.ts';
import { root } from './settings.ts';

/**
 * Runs `services/<service>/src/<script>.ts` to its end.
 * @param take gets each JSON value that the script writes, a line each
 * @throws StartError with the line that the script wrote for people
 */
export async function runScript(
  shop: OpenShop,
  service: ServiceName,
  script: string,
  parameters: readonly string[],
  take: (value: unknown) => void,
): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'services', service, 'src', `${script}.ts`), ...parameters], {
    cwd: root,
    env: scriptEnvironment(shop, service),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const complaint = text(child.stderr);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== '') take(JSON.parse(line));
  }
  const [code, signal] = await closed;
  if (code === 0) return;
  const lines = (await complaint).trim().split('\n');
  const spoken = lines.filter((line) => line.startsWith(`${script}: `)).map((line) => line.slice(script.length + 2));
  throw new StartError(spoken.join('\n') || lines.at(-1) || `${script} ended (${signal ?? `exit code ${code}`})`);
}

/** Like `runScript`, for a script that writes one value. */
export async function askScript<T>(
  shop: OpenShop,
  service: ServiceName,
  script: string,
  parameters: readonly string[],
): Promise<T> {
  let answer: unknown;
  await runScript(shop, service, script, parameters, (value) => {
    answer = value;
  });
  return answer as T;
}
