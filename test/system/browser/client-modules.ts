// A page that can import the compiled client, as a page of a shop's own would.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runIn } from '../clients/install.ts';

const client = fileURLToPath(new URL('../../../client', import.meta.url));

/**
 * Compiles the client into a folder of its own, and returns the folder. It is not packed: the package is built in the
 * repository, where package.test.ts builds it at the same time.
 */
export async function compileClient(folder: string): Promise<string> {
  const modules = join(folder, 'modules');
  await runIn(client, 'npx', '--no-install', 'tsc', '--project', 'tsconfig.build.json', '--outDir', modules);
  return modules;
}

export interface ModulePage {
  readonly url: string;
  close(): Promise<void>;
}

/** Starts a server with an empty page and the modules of the client. */
export async function serveModules(modules: string, host: string): Promise<ModulePage> {
  const server = createServer(async ({ url = '/' }, response) => {
    const name = /^\/([a-z-]+\.js)$/.exec(url)?.[1];
    const [type, text] =
      name === undefined
        ? ['text/html', '<!doctype html><title>Another origin</title>']
        : ['text/javascript', await readFile(join(modules, name))];
    response.writeHead(200, { 'Content-Type': type }).end(text);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}
