// Checks that every service's OpenAPI and AsyncAPI documents are valid; run by `npm run check`.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import SwaggerParser from '@apidevtools/swagger-parser';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

const services = fileURLToPath(new URL('../services', import.meta.url));
const asyncApiSchema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0-without-$id.json') as object;
const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
const isAsyncApi = ajv.compile(asyncApiSchema);

const faults: string[] = [];
for (const service of readdirSync(services).sort()) {
  const openApi = `${services}/${service}/openapi.yaml`;
  const asyncApi = `${services}/${service}/asyncapi.yaml`;
  if (!existsSync(openApi)) faults.push(`${service} has no openapi.yaml`);
  else
    await SwaggerParser.validate(openApi).catch((error: Error) =>
      faults.push(`${service}/openapi.yaml: ${error.message}`),
    );
  if (!existsSync(asyncApi)) faults.push(`${service} has no asyncapi.yaml`);
  else if (!isAsyncApi(parse(readFileSync(asyncApi, 'utf8')))) {
    for (const { instancePath, message } of isAsyncApi.errors ?? [])
      faults.push(`${service}/asyncapi.yaml: ${instancePath} ${message}`);
  }
}
for (const fault of faults) console.error(fault);
console.log(`${faults.length === 0 ? 'all documents are valid' : `${faults.length} faults in the documents`}`);
process.exitCode = faults.length === 0 ? 0 : 1;
