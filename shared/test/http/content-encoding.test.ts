import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { acceptsGzip, compress } from '../../src/http/content-encoding.ts';

const pageOf = (characters: number) => ({ status: 200, json: `"${'é'.repeat(characters - 2)}"`, etag: '"1"' });

describe('compress', () => {
  it.each([1_024, 20_000, 262_144])(
    'compress compresses JSON of %i characters and gives it another entity tag',
    (length) => {
      const page = pageOf(length);
      const { gzip, etag } = compress(page) ?? {};
      expect(gunzipSync(gzip ?? '').toString()).toBe(page.json);
      expect(etag).toMatch(/^"[A-Za-z0-9_-]{43}"$/);
      expect(compress(page)?.etag).toBe(etag);
      expect(compress({ ...page, etag: '"2"' })?.etag).not.toBe(etag);
    },
  );

  it.each([1_023, 262_145])('compress does not change JSON of %i characters', (length) => {
    const page = pageOf(length);
    expect(compress(page)).toBeUndefined();
  });

  it('compress does not change a page without an entity tag', () => {
    const { etag, ...page } = pageOf(2_000);
    expect(compress(page)).toBeUndefined();
  });
});

describe('acceptsGzip', () => {
  it.each(['gzip', 'br, gzip', 'GZIP;q=0.5', 'gzip;q=0.01, br', 'deflate,gzip ; q=1'])(
    'acceptsGzip accepts %j',
    (header) => {
      expect(acceptsGzip(header)).toBe(true);
    },
  );

  it.each([undefined, '', 'br', 'identity', 'gzip;q=0', 'gzip ; q=0.000, br', 'gzip;q=0 , br', 'gzip;q=0.0 '])(
    'acceptsGzip does not accept %j',
    (header) => {
      expect(acceptsGzip(header)).toBe(false);
    },
  );
});
