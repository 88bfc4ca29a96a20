// Checks that events.yaml and every service's OpenAPI and AsyncAPI documents are valid; run by `npm run check`.
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import SwaggerParser from '@apidevtools/swagger-parser';
import { bundleDocument } from '@shop/shared/contract';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

const root = fileURLToPath(new URL('..', import.meta.url));
const asyncApiSchema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
const isAsyncApi = ajv.compile(asyncApiSchema);

const faults: string[] = [];

async function checkOpenApi(file: string): Promise<void> {
  await SwaggerParser.validate(`${root}${file}`).catch((error: Error) => faults.push(`${file}: ${error.message}`));
}

function checkAsyncApi(file: string): void {
  if (isAsyncApi(bundleDocument(`${root}${file}`))) return;
  for (const { instancePath, message } of isAsyncApi.errors ?? []) faults.push(`${file}: ${instancePath} ${message}`);
}

checkAsyncApi('shared/contracts/events.yaml');
for (const service of readdirSync(`${root}services`).sort()) {
  const openApi = `services/${service}/openapi.yaml`;
  const asyncApi = `services/${service}/asyncapi.yaml`;
  if (existsSync(`${root}${openApi}`)) await checkOpenApi(openApi);
  else faults.push(`${service} has no openapi.yaml`);
  if (existsSync(`${root}${asyncApi}`)) checkAsyncApi(asyncApi);
  else faults.push(`${service} has no asyncapi.yaml`);
}
for (const fault of faults) console.error(fault);
console.log(`${faults.length === 0 ? 'all documents are valid' : `${faults.length} faults in the documents`}`);
process.exitCode = faults.length === 0 ? 0 : 1;
