// Prism as a validating proxy in front of a shop. It answers in place of the shop when a request or a response does not
// conform to the document.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePorts } from '@shop/shared/embedded';
import { eventually, plainEnvironment } from '@shop/shared/testing';
import { toolsOf } from '../../install-tools.ts';

const tools = toolsOf(new URL('.', import.meta.url));

export interface Prism {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * @param document the file of the OpenAPI document
 * @param shop the address of the gateway
 */
export async function startPrism(document: string, shop: string): Promise<Prism> {
  await tools.install();
  const [port = 0] = await freePorts(1);
  const program = tools.path('@stoplight/prism-cli/dist/index.js');
  const parameters = ['proxy', document, shop, '--errors', '--port', String(port)];
  const child = spawn(process.execPath, [program, ...parameters], { env: plainEnvironment() });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      output += String(data);
    });
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  try {
    await eventually(() => {
      if (!output.includes('Prism is listening')) throw new Error(`Prism did not start: ${output}`);
    }, 60_000);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `http://127.0.0.1:${port}`, stop };
}
