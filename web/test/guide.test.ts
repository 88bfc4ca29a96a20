// The HTML of a guide.
import { expect, it } from '@jest/globals';
import { renderGuide } from '../src/docs/guide.ts';

const shown = (request: string): string => renderGuide(`# Guide\n\n\`\`\`http\n${request}\n\`\`\`\n`).html;

it('a guide offers a link to a complete example request', () => {
  expect(shown('GET /v1/products?price=lt:5&limit=2')).toContain('href="/v1/products?price=lt:5&amp;limit=2"');
});

it.each(['GET /v1/products?cursor={nextCursor}', 'GET /v1/orders', 'POST /v1/products/search'])(
  'a guide offers no link to %s',
  (request) => {
    expect(shown(request)).not.toContain('Open it here');
  },
);

it('a guide offers an example request as a command, with the values of the reader', () => {
  const html = shown(
    'POST /v1/orders\nAuthorization: Bearer {accessToken}\nContent-Type: application/json\n\n{ "productId": "{productId}" }',
  );
  const [, command = ''] = /data-tab="curl"><code>(.*?)<\/code>/s.exec(html) ?? [];
  const text = command
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'");
  expect(text).toBe(`curl 'http://localhost:8080/v1/orders' \\
  -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{ "productId": "01931f6e-2d00-7c3a-8d51-5f3b6a1c0e01" }'`);
  expect(command).toContain('<span class="own" data-own="productId">');
});

it('a guide lists its headings, each with an anchor of its own', () => {
  const { headings, html } = renderGuide('# Guide\n\n## One\n\n### Added\n\n## Two\n\n### Added\n');
  expect(headings.map(({ id }) => id)).toEqual(['one', 'added', 'two', 'added--2']);
  for (const { id } of headings) expect(html).toContain(` id="${id}"`);
});

it('a guide names the column before each cell, for narrow screens', () => {
  expect(renderGuide('# G\n\n| A | B |\n|---|---|\n| 1 | 2 |\n').html).toContain('<td data-label="B">2</td>');
});
