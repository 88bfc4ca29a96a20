// The code beside each operation: curl and JavaScript can be parsed, and the typed client accepts its part.
// test/system/clients/python.test.ts parses the Python.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from '@jest/globals';
import { parseSync } from '@swc/core';
import { parse } from 'yaml';
import { publishedContracts } from '../../gateway/src/published-contracts.ts';
import { withoutMarks } from '../../web/src/docs/own-values.ts';
import { publishedDocument } from '../../web/src/docs/published-document.ts';
import { exampleRequest } from '../../web/src/docs/reference/example-request.ts';
import { operationViews } from '../../web/src/docs/reference/operation-view.ts';
import { toSnippets } from '../../web/src/docs/reference/snippets.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = `${root}/gateway/config`;
const config = parse(readFileSync(`${folder}/gateway.config.yml`, 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'shop-snippets-'));
afterAll(() => rmSync(scratch, { recursive: true }));

const snippets = operationViews(publishedDocument(publishedContracts(config, folder))).map((operation) => {
  const texts = toSnippets(exampleRequest(operation)).map(({ id, text }) => [id, withoutMarks(text)] as const);
  return {
    id: operation.id,
    ...(Object.fromEntries(texts) as Record<'curl' | 'javascript' | 'python' | 'client', string>),
  };
});

describe('the code beside every operation', () => {
  it('the code beside every operation is a command line of a shell', () => {
    for (const { id, curl } of snippets) expect([id, spawnSync('sh', ['-n'], { input: curl }).status]).toEqual([id, 0]);
  });

  it('the code beside every operation is JavaScript', () => {
    for (const { javascript } of snippets) expect(() => parseSync(javascript, { syntax: 'ecmascript' })).not.toThrow();
  });

  it('the code beside every operation calls the function that the client has for the operation, and gives it an idempotency key', () => {
    const byId = new Map(snippets.map(({ id, client }) => [id, client]));
    expect(byId.get('createOrder')).toMatch(
      /const idempotencyKey = crypto\.randomUUID\(\);\nconst result = await shop\.orders\.place\(.+, \{ idempotencyKey \}\);/s,
    );
    const raw = snippets.filter(({ client }) => client.includes('shop.call.')).map(({ id }) => id);
    expect(raw.filter((id) => !/^(?:list|find|search)/.test(id))).toEqual([
      'issueToken',
      'revokeToken',
      'importProducts',
    ]);
  });

  it('the code beside every operation is accepted by the types of the client', () => {
    for (const { id, client } of snippets) {
      const declared = client.includes('{token}') ? 'declare const token: string;\n' : '';
      writeFileSync(join(scratch, `${id}.ts`), client.replace('\n\n', `\n${declared}`));
    }
    const options = {
      extends: `${root}/tsconfig.json`,
      compilerOptions: {
        noEmit: true,
        lib: ['es2023', 'dom', 'dom.iterable'],
        paths: { '@shop/client': [`${root}/client/src/index.ts`] },
        typeRoots: [`${root}/node_modules/@types`],
      },
      include: [`${scratch}/*.ts`],
    };
    writeFileSync(join(scratch, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(scratch, 'tsconfig.json'), JSON.stringify(options));
    const { stdout } = spawnSync(`${root}/node_modules/.bin/tsc`, ['--project', scratch], { encoding: 'utf8' });
    expect(stdout).toBe('');
  });
});
