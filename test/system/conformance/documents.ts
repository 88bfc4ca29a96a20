// The documents that the gateway publishes, as files for the tools.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readYaml } from '@shop/shared/contract';
import { publishedContracts } from '../../../gateway/src/published-contracts.ts';
import { readAssets } from '../../../web/src/assets.ts';
import { createDocumentation } from '../../../web/src/docs/documentation.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

export interface PublishedFile {
  readonly kind: 'openapi' | 'asyncapi';
  /** The name of the file in the folder. */
  readonly name: string;
}

/** Writes the OpenAPI document and the AsyncAPI document of each service to a folder. */
export async function writeDocuments(folder: string): Promise<PublishedFile[]> {
  const configuration = `${root}/gateway/config`;
  const config = readYaml(`${configuration}/gateway.config.yml`) as Parameters<typeof publishedContracts>[0];
  const contracts = publishedContracts(config, configuration);
  const sources = { contracts, guides: `${root}/docs`, services: `${root}/services` };
  const pages = [...createDocumentation(sources, readAssets())].filter(([path]) =>
    /^\/v1\/openapi\.json$|^\/docs\/asyncapi\//.test(path),
  );
  return Promise.all(
    pages.map(async ([path, page]): Promise<PublishedFile> => {
      const kind = path === '/v1/openapi.json' ? 'openapi' : 'asyncapi';
      const name = path.slice(path.lastIndexOf('/') + 1);
      await writeFile(join(folder, name), (await page.encoded(undefined)).body);
      return { kind, name };
    }),
  );
}
