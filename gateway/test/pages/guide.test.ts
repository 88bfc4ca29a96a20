// The HTML of a guide.
import { expect, it } from '@jest/globals';
import { renderGuide } from '../../plugin/pages/docs/guide.ts';

const shown = (request: string): string => renderGuide(`# Guide\n\n\`\`\`http\n${request}\n\`\`\`\n`).html;

it('offers a link to a complete example request', () => {
  expect(shown('GET /v1/products?price=lt:5&limit=2')).toContain('href="/v1/products?price=lt:5&amp;limit=2"');
});

it.each(['GET /v1/products?cursor={nextCursor}', 'GET /v1/orders', 'POST /v1/products/search'])(
  'offers no link to %s',
  (request) => {
    expect(shown(request)).not.toContain('Open it here');
  },
);
