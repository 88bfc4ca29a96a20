// The examples that storefronts copy: they must not hide products that can be bought.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const root = new URL('../../', import.meta.url);
const pages = [
  'README.md',
  'client/README.md',
  'services/catalogue/openapi.yaml',
  ...readdirSync(new URL('docs/', root)).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
];

/** A filter by `available` or `active`, in a query, in a body or in a call of the client. */
const filter =
  /status=(?:in:)?[a-z,]*\b(?:available|active)\b|products\(\{[^}]*status|"?status"?: \{ ?"?(?:eq|in)"?: [^}]*\b(?:available|active)\b/g;

describe('an example', () => {
  it.each(pages)('an example of %s does not filter products by one of the two words for the same state', (page) => {
    expect(readFileSync(new URL(page, root), 'utf8').match(filter)).toBeNull();
  });
});
