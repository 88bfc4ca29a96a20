// The published document: valid, public operations only, and each of them fully described.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import SwaggerParser from '@apidevtools/swagger-parser';
import { describe, expect, it } from '@jest/globals';
import { dereference, isNode, type Node, toNode } from '@shop/shared/contract';
import { problems } from '@shop/shared/problem';
import { parseSync } from '@swc/core';
import { parse } from 'yaml';
import { publishedContracts } from '../../gateway/src/published-contracts.ts';
import { joinContracts } from '../../web/src/docs/join-contracts.ts';
import { publishedDocument } from '../../web/src/docs/published-document.ts';
import { problemTexts } from '../../web/src/problems/problem-texts.ts';
import { textOf } from '../../web/src/yaml-document.ts';
import { contentsOf, examplesOf } from './contents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = `${root}/gateway/config`;
const config = parse(readFileSync(`${folder}/gateway.config.yml`, 'utf8'));
const document = publishedDocument(publishedContracts(config, folder));

interface PublicOperation {
  readonly name: string;
  readonly path: string;
  readonly node: Node;
  readonly parameters: readonly Node[];
}

const operations = Object.entries(toNode(document.paths)).flatMap(([path, item]) =>
  Object.entries(toNode(item)).flatMap(([method, node]): PublicOperation[] => {
    if (!isNode(node) || method === 'parameters') return [];
    const parameters = [toNode(item).parameters, node.parameters].flatMap((list) => (Array.isArray(list) ? list : []));
    return [{ name: `${method} ${path}`, path, node, parameters: parameters.map((one) => dereference(document, one)) }];
  }),
);

const contents = contentsOf(document);

/**
 * Returns for each source file its problem codes and sentences. Each `${…}` is replaced by one word, or by a list of
 * words.
 */
const said = globSync('{gateway/src,web/src,shared/src,services/*/src}/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('problem-texts.ts'))
  .flatMap((path) => {
    const texts = textsIn(parseSync(readFileSync(`${root}/${path}`, 'utf8'), { syntax: 'typescript' }));
    const codes = texts.filter((text) => Object.hasOwn(problems, text)).join('|');
    const sentences = texts
      .filter((text) => /^[A-Za-z].+\.$/.test(text))
      .map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('\0', '\\S+(?:, \\S+)*'));
    return codes === '' ? [] : [new RegExp(`^(?:${codes}):(?: (?:${sentences.join('|')}))+$`)];
  });

/** Returns the strings and templates of a syntax tree. A NUL stands for each substitution. */
function textsIn(tree: unknown): string[] {
  if (Array.isArray(tree)) return tree.flatMap(textsIn);
  if (!isNode(tree)) return [];
  if (tree.type === 'StringLiteral') return [String(tree.value)];
  const parts = Array.isArray(tree.quasis) ? tree.quasis.map((part) => String(toNode(part).cooked)) : [];
  return [parts.join('\0'), ...Object.values(tree).flatMap(textsIn)];
}

describe('the published document', () => {
  it('the published document is valid OpenAPI 3.1', async () => {
    await expect(SwaggerParser.validate(structuredClone(document) as never)).resolves.toMatchObject({
      openapi: '3.1.0',
    });
  });

  it('the published document has no schema that generators do not understand, and no component that nothing refers to', () => {
    const booleans: string[] = [];
    const references = new Set<string>();
    const visit = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      for (const [name, member] of Object.entries(value)) {
        if (name === '$ref') references.add(String(member));
        const inner = `${place}/${name}`;
        if (typeof member === 'boolean' && /\/(?:properties\/[^/]+|(?:all|any|one)Of\/\d+|items|not)$/.test(inner))
          booleans.push(inner);
        visit(member, `${place}/${name}`);
      }
    };
    visit(document, '#');
    const { securitySchemes: _named, ...components } = toNode(document.components);
    const defined = Object.entries(components).flatMap(([kind, all]) =>
      Object.keys(toNode(all)).map((name) => `#/components/${kind}/${name}`),
    );
    expect(booleans).toEqual([]);
    expect(defined.filter((reference) => !references.has(reference))).toEqual([]);
  });

  it('the published document has the operations that the specification lists, and no internal one', () => {
    const names = operations.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining([
        'post /v1/accounts',
        'patch /v1/accounts/{accountId}',
        'post /v1/orders',
        'get /v1/orders/{orderId}',
        'post /v1/orders/{orderId}/cancel',
        'get /v1/orders',
        'get /v1/products',
        'post /v1/products/search',
      ]),
    );
    expect(names.filter((name) => !/ \/v1\/| \/\.well-known\//.test(name))).toEqual([]);
    expect(JSON.stringify(document)).not.toMatch(/internal\/|serviceToken|reservationId/);
  });

  it('the published document has no member, tag or scheme that only the services need', () => {
    expect(JSON.stringify(document)).not.toMatch(/"x-(?:internal|refused-by-operation|checked-by-operation)"/);
    const tags = Array.isArray(document.tags) ? document.tags.map((tag) => toNode(tag).name) : [];
    expect(new Set(operations.flatMap(({ node }) => node.tags))).toEqual(new Set(tags));
    expect(Object.keys(toNode(toNode(document.components).securitySchemes))).toEqual(['bearer']);
  });

  it('the published document names every operation once, with a summary, its callers and its rate', () => {
    const ids = operations.map(({ node }) => node.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { name, node } of operations) {
      expect([name, textOf(node.summary)]).toEqual([name, expect.stringMatching(/^.{5,80}$/)]);
      expect([name, node.security]).toEqual([name, expect.any(Array)]);
      expect([name, textOf(node.description)]).toEqual([name, expect.stringMatching(/Limit: \d+ requests within /)]);
    }
  });

  it.each([
    ['post /v1/tokens', 'At most 300 refused attempts a minute for one e-mail address.'],
    ['post /v1/password-resets', 'At most 5 attempts a minute for one e-mail address from one client address.'],
    ['post /v1/accounts/{accountId}/erase', 'At most 30 refusals with 403 a minute for one account.'],
    ['post /v1/orders', 'At most 1000 requests within a second for all accounts of one address.'],
  ])('the description of %s states: %s', (operation, text) => {
    const found = operations.find(({ name }) => name === operation);
    expect(textOf(found?.node.description)).toContain(text);
  });

  it('the published document states the bound of every body', () => {
    for (const { name, node } of operations.filter(({ node }) => node.requestBody !== undefined)) {
      const { 'x-max-bytes': bound, description } = toNode(node.requestBody);
      expect([name, bound, textOf(description)]).toEqual([name, expect.any(Number), `At most ${bound} bytes.`]);
    }
  });

  it('the published document describes every parameter', () => {
    const silent = operations.flatMap(({ name, parameters }) =>
      parameters
        .filter(({ description }) => textOf(description) === '')
        .map((parameter) => `${name} ${parameter.name}`),
    );
    expect(silent).toEqual([]);
  });

  it.each(operations)('the published document lists the error responses of $name', ({ path, node, parameters }) => {
    const has = (name: string): boolean => parameters.some((parameter) => parameter.name === name);
    const security = Array.isArray(node.security) ? node.security.filter(isNode) : [];
    const isOptional = security.some((requirement) => Object.keys(requirement).length === 0);
    const bearer = isOptional ? undefined : security.find(({ bearer }) => bearer);
    const scoped = Array.isArray(bearer?.bearer) && bearer.bearer.length > 0;
    const expected = [
      ...['400', '406', '429', '500', '502', '503', '504', 'default'],
      ...(bearer === undefined ? [] : ['401']),
      ...(scoped ? ['403'] : []),
      ...(path.includes('{') ? ['404'] : []),
      ...(node.requestBody === undefined ? [] : ['413', '415']),
      ...(has('If-Match') ? ['412'] : []),
      ...(has('If-None-Match') ? ['304'] : []),
      ...(has('Idempotency-Key') ? ['409', '422'] : []),
      // The feed has no filters, which can be too costly.
      ...((has('cursor') && !path.startsWith('/v1/changes')) || path.endsWith('/search') ? ['422'] : []),
    ];
    expect(Object.keys(toNode(node.responses))).toEqual(expect.arrayContaining(expected));
  });

  it('the published document tells generators the size of every number', () => {
    const wrong: string[] = [];
    const visit = (value: unknown, place: string): void => {
      if (typeof value !== 'object' || value === null) return;
      const { type, format, minimum = -Infinity, maximum = Infinity } = value as Record<string, unknown>;
      const types = [type].flat().filter((each) => each !== 'null');
      const fits = Number(minimum) >= -(2 ** 31) && Number(maximum) < 2 ** 31;
      const expected = types[0] === 'number' ? 'double' : fits ? 'int32' : 'int64';
      if (types.length === 1 && /^(?:number|integer)$/.test(String(types[0])) && format !== expected)
        wrong.push(`${place}: ${String(format)} instead of ${expected}`);
      for (const [name, member] of Object.entries(value)) visit(member, `${place}/${name}`);
    };
    visit(document, '#');
    expect(wrong).toEqual([]);
  });

  it('the published document has an example of every body', () => {
    expect(
      contents.filter(({ content }) => examplesOf(document, content).length === 0).map(({ where }) => where),
    ).toEqual([]);
  });

  it('the published document lists under each status only problems of that status', () => {
    const wrong = contents.flatMap(({ where, place, content }) =>
      examplesOf(document, content).flatMap((example) => {
        const { code, status } = toNode(example);
        if (typeof code !== 'string' || !Object.hasOwn(problems, code) || place === 'default') return [];
        return String(status) === place ? [] : [`${where}: ${code}`];
      }),
    );
    expect(wrong).toEqual([]);
  });

  it('the published document has only problem texts that the source contains', () => {
    const shown = contents.flatMap(({ content }) => examplesOf(document, content).filter(isNode));
    const examples = [
      ...Object.entries(problemTexts).map(([code, { example }]) => `${code}: ${example}`),
      ...shown
        .filter(({ code }) => Object.hasOwn(problems, String(code)))
        .map(({ code, detail }) => `${code}: ${detail}`),
    ];
    const unsaid = [...new Set(examples)].filter((example) => !said.some((sentences) => sentences.test(example)));
    expect(unsaid).toEqual([]);
  });
});

describe('joining', () => {
  const frame = { openapi: '3.1.0', info: { title: 'Shop', version: '1' } };
  const part = (
    name: string,
    members: { schema: object; path?: string; operationId?: string; internal?: boolean },
  ) => ({
    name,
    document: {
      paths: {
        [members.path ?? `/v1/${name}`]: {
          get: {
            operationId: members.operationId ?? name,
            'x-internal': members.internal ?? false,
            responses: { 200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/List' } } } } },
          },
        },
      },
      components: { schemas: { List: { items: { $ref: '#/components/schemas/Item' } }, Item: members.schema } },
    },
  });

  it('the join of contracts keeps one of equal components', () => {
    const joined = joinContracts(frame, [
      part('one', { schema: { type: 'string' } }),
      part('two', { schema: { type: 'string' } }),
    ]);
    expect(Object.keys(toNode(toNode(joined.components).schemas))).toEqual(['Item', 'List']);
  });

  it('the join of contracts renames different components after their service, and the references to them', () => {
    const joined = joinContracts(frame, [
      part('one', { schema: { type: 'string' } }),
      part('two', { schema: { type: 'number' } }),
    ]);
    expect(toNode(joined.components).schemas).toEqual({
      OneItem: { type: 'string' },
      TwoItem: { type: 'number' },
      OneList: { items: { $ref: '#/components/schemas/OneItem' } },
      TwoList: { items: { $ref: '#/components/schemas/TwoItem' } },
    });
  });

  it('the join of contracts omits internal operations and their components', () => {
    const joined = joinContracts(frame, [part('one', { schema: {}, internal: true })]);
    expect(joined).toMatchObject({ paths: {}, components: {} });
    expect(toNode(joined.components).schemas).toBeUndefined();
  });

  it('the join of contracts rejects a path or an operationId that two services define', () => {
    const twice = (members: object) => () =>
      joinContracts(frame, [part('one', { schema: {}, ...members }), part('two', { schema: {}, ...members })]);
    expect(twice({ path: '/v1/same' })).toThrow('two services define /v1/same');
    expect(twice({ operationId: 'same' })).toThrow('two operations have the id same');
  });
});
