// Each pattern of a request says in words what it permits, because clients do not read regular expressions.
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { isNode, type Node, readDocument, toNode } from '@shop/shared/contract';
import { reachable } from '../../web/src/yaml-document.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The places of patterns without `x-pattern-detail` in everything that a document accepts. */
function silentPatterns(document: Node): string[] {
  const accepted = Object.values(toNode(document.paths)).flatMap((item) => [
    toNode(item).parameters,
    ...Object.values(toNode(item)).map((operation) => [toNode(operation).parameters, toNode(operation).requestBody]),
  ]);
  const silent = new Set<string>();
  const visit = (value: unknown, place: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if (isNode(value) && typeof value.pattern === 'string' && typeof value['x-pattern-detail'] !== 'string')
      silent.add(`${place}: ${value.pattern}`);
    for (const [name, member] of Object.entries(value)) visit(member, `${place}/${name}`);
  };
  visit(accepted, 'request');
  for (const [reference, component] of reachable(document, accepted)) visit(component, reference);
  return [...silent];
}

describe('a pattern of a request', () => {
  it.each(globSync('services/*/openapi.yaml', { cwd: root }))(
    'a pattern of a request has a description in %s',
    (file) => {
      expect(silentPatterns(readDocument(`${root}/${file}`))).toEqual([]);
    },
  );

  it('a pattern of a request is reported without one, also in a component', () => {
    const schema = { pattern: '^a$' };
    const document = {
      paths: { '/a': { parameters: [{ schema }], post: { requestBody: { $ref: '#/components/requestBodies/A' } } } },
      components: { requestBodies: { A: { schema: { $ref: '#/components/schemas/B' } } }, schemas: { B: schema } },
    };
    expect(silentPatterns(document)).toEqual(['request/0/0/schema: ^a$', '#/components/schemas/B: ^a$']);
  });
});
