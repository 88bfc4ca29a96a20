// Documents that refer to components of other files become documents with local references.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bundleDocument, readDocument } from '@shop/shared/contract';

let folder: string;

const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'shop-documents-'));
  mkdirSync(join(folder, 'service'));
  write(
    'common.yaml',
    `components:
  schemas:
    Id: { type: string, format: uuid }
    Problem: { type: object, properties: { instance: { $ref: "#/components/schemas/Id" } } }
    Tree: { type: object, properties: { children: { type: array, items: { $ref: "#/components/schemas/Tree" } } } }
    Unused: { type: string }
  responses:
    NotFound: { description: Nothing., content: { a: { schema: { $ref: "#/components/schemas/Problem" } } } }
`,
  );
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a document that refers to another file', () => {
  it('a document that refers to another file gets the components that it needs, directly or indirectly, and no others', () => {
    const file = write(
      'service/openapi.yaml',
      `paths: { /a: { get: { responses: { "404": { $ref: "../common.yaml#/components/responses/NotFound" } } } } }
components: { schemas: { Own: { $ref: "../common.yaml#/components/schemas/Tree" } } }
`,
    );
    expect(readDocument(file)).toEqual({
      paths: { '/a': { get: { responses: { '404': { $ref: '#/components/responses/NotFound' } } } } },
      components: {
        schemas: {
          Own: { $ref: '#/components/schemas/Tree' },
          Tree: {
            type: 'object',
            properties: { children: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } },
          },
          Problem: { type: 'object', properties: { instance: { $ref: '#/components/schemas/Id' } } },
          Id: { type: 'string', format: 'uuid' },
        },
        responses: {
          NotFound: { description: 'Nothing.', content: { a: { schema: { $ref: '#/components/schemas/Problem' } } } },
        },
      },
    });
  });

  it('a document that refers to another file is rejected when the component does not exist', () => {
    const file = write('missing.yaml', 'paths: { /a: { $ref: "common.yaml#/components/schemas/Missing" } }\n');
    expect(() => bundleDocument(file)).toThrow('common.yaml has no component #/components/schemas/Missing');
  });

  it('a document that refers to another file is rejected when it defines a component of the same name itself', () => {
    const file = write(
      'twice.yaml',
      `paths: { /a: { $ref: "common.yaml#/components/schemas/Problem" } }
components: { schemas: { Id: { type: integer } } }
`,
    );
    expect(() => bundleDocument(file)).toThrow('both define schemas/Id');
  });

  it('a document is rejected when it is not an OpenAPI document but has to be one', () => {
    expect(() => readDocument(join(folder, 'common.yaml'))).toThrow('is not an OpenAPI document');
  });
});
