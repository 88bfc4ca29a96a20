// The Python beside each operation of the reference can be parsed by Python.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from '@jest/globals';
import { installPackage } from '@shop/shared/testing';
import { parse } from 'yaml';
import { publishedContracts } from '../../../gateway/src/published-contracts.ts';
import { withoutMarks } from '../../../web/src/docs/own-values.ts';
import { publishedDocument } from '../../../web/src/docs/published-document.ts';
import { exampleRequest } from '../../../web/src/docs/reference/example-request.ts';
import { operationViews } from '../../../web/src/docs/reference/operation-view.ts';
import { toSnippets } from '../../../web/src/docs/reference/snippets.ts';

const folder = fileURLToPath(new URL('../../../gateway/config', import.meta.url));
const parseAll =
  'import ast, json, sys; programs = json.load(sys.stdin); [ast.parse(one) for one in programs]; print(len(programs))';

beforeAll(async () => {
  if (spawnSync('python3', ['--version']).status !== 0) await installPackage('python3');
});

it('the client of the documentation runs in Python', () => {
  const config = parse(readFileSync(`${folder}/gateway.config.yml`, 'utf8'));
  const operations = operationViews(publishedDocument(publishedContracts(config, folder)));
  const programs = operations.map((operation) =>
    withoutMarks(toSnippets(exampleRequest(operation)).find(({ id }) => id === 'python')?.text ?? ''),
  );
  expect(programs.every((program) => program.includes('import '))).toBe(true);
  const parsed = execFileSync('python3', ['-c', parseAll], { input: JSON.stringify(programs), encoding: 'utf8' });
  expect(Number(parsed)).toBe(operations.length);
});
