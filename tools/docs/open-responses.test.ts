// The published document permits further members in responses. Its closed form, as the services have it, is for the shop's own checks.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { type Node, toNode } from '@shop/shared/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';
import { publishedContracts } from '../../gateway/src/published-contracts.ts';
import { openResponses } from '../../web/src/docs/open-responses.ts';
import { publishedDocument } from '../../web/src/docs/published-document.ts';
import { reachable } from '../../web/src/yaml-document.ts';
import { contentsOf, examplesOf } from './contents.ts';

const folder = fileURLToPath(new URL('../../gateway/config', import.meta.url));
const config = parse(readFileSync(`${folder}/gateway.config.yml`, 'utf8'));
const open = publishedDocument(publishedContracts(config, folder));
const closed = publishedDocument(publishedContracts(config, folder), { closed: true });

function refusesMembers(value: unknown): boolean {
  return /"(?:additional|unevaluated)Properties":false/.test(JSON.stringify(value));
}

/** The bodies of responses, each with the components that it refers to, in which a further member is a fault. */
function closedResponses(document: Node): string[] {
  return contentsOf(document).flatMap(({ where, place, content }) => {
    const schemas = [content.schema, ...reachable(document, content.schema).values()];
    return place !== 'request' && refusesMembers(schemas) ? [where] : [];
  });
}

/** Everything that describes requests, with the components that it refers to. */
function requestsOf(document: Node): unknown[] {
  return Object.values(toNode(document.paths)).flatMap((item) =>
    Object.values(toNode(item)).map((operation) => {
      const { parameters, requestBody } = toNode(operation);
      return [parameters, requestBody, [...reachable(document, [parameters, requestBody])]];
    }),
  );
}

describe('the responses of the published document', () => {
  it('the responses of the published document permit further members, so that an addition breaks no generated client', () => {
    expect(closedResponses(open)).toEqual([]);
    expect(closedResponses(closed).length).toBeGreaterThan(100);
  });

  it('the responses of the published document leave its requests closed, because the shop rejects unknown members', () => {
    expect(requestsOf(open)).toEqual(requestsOf(closed));
    expect(refusesMembers(requestsOf(open))).toBe(true);
  });

  it('the responses of the published document have only examples that are valid by the closed schemas', () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false });
    addFormats.default(ajv);
    ajv.addSchema(closed, 'document');
    const faults = contentsOf(closed).flatMap(({ where, content }) => {
      const { $ref } = toNode(content.schema);
      const validate = ajv.compile(typeof $ref === 'string' ? { $ref: `document${$ref}` } : toNode(content.schema));
      return examplesOf(closed, content).flatMap((example) =>
        validate(example) ? [] : [`${where}: ${ajv.errorsText(validate.errors)}`],
      );
    });
    expect(faults).toEqual([]);
  });
});

describe('a schema of requests and responses', () => {
  const content = (name: string) => ({
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  });
  const text = { type: 'string' };
  const documentOf = (more: object = {}): Node => ({
    paths: { '/v1/parcels': { post: { requestBody: content('Parcel'), responses: { 201: content('Parcel') } } } },
    components: {
      schemas: {
        Parcel: { properties: { size: { $ref: '#/components/schemas/Size' }, note: text }, required: ['size'] },
        Size: { properties: { width: text }, additionalProperties: false },
        ...more,
      },
    },
  });

  it('a schema of requests and responses has an open copy for responses, as have the schemas that refer to it', () => {
    expect(openResponses(documentOf())).toEqual({
      paths: { '/v1/parcels': { post: { requestBody: content('Parcel'), responses: { 201: content('ParcelView') } } } },
      components: {
        schemas: {
          ...toNode(toNode(documentOf().components).schemas),
          ParcelView: {
            properties: { size: { $ref: '#/components/schemas/SizeView' }, note: text },
            required: ['size'],
          },
          SizeView: { properties: { width: text } },
        },
      },
    });
  });

  it('a schema of requests and responses is rejected when another schema has the name of the copy', () => {
    expect(() => openResponses(documentOf({ SizeView: text }))).toThrow('two schemas have one name');
  });
});
