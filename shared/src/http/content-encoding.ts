// Responses that are compressed for clients that accept it.
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);
/** Characters. A shorter text hardly becomes shorter. */
const shortest = 1_024;
const acceptedGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|$))/i;

/** Whether the header field `Accept-Encoding` names gzip (RFC 9110 section 12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && acceptedGzip.test(acceptEncoding);
}

interface Page {
  readonly json?: string;
  readonly etag?: string;
}

/**
 * Returns the page with its JSON text also compressed, unless the text is short. Its entity tag differs from that of the
 * plain text, because strong tags differ for each encoding (RFC 9110 section 8.8.1).
 */
export async function compressed<P extends Page>(page: P): Promise<P & { readonly gzip?: Buffer }> {
  const { json, etag } = page;
  if (json === undefined || json.length < shortest || etag === undefined) return page;
  return { ...page, etag: `"${hash('sha256', `gzip ${etag}`, 'base64url')}"`, gzip: await compress(json) };
}
