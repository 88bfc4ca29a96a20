// Responses that are compressed for clients that accept it.
import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

/**
 * Characters. Compressing a shorter JSON text saves little, and compressing a longer one would delay other requests.
 * 20,000 characters take 0.05 ms. In the thread pool, each call took more than 1 ms of processor time.
 */
const [shortest, longest] = [1_024, 256 * 1_024];
const acceptedGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i;

/** Returns whether the header field `Accept-Encoding` names gzip (RFC 9110 section 12.5.3). */
export function acceptsGzip(acceptEncoding: string | undefined): boolean {
  return acceptEncoding !== undefined && acceptedGzip.test(acceptEncoding);
}

interface Compressed {
  readonly gzip: Buffer;
  readonly etag: string;
}

/**
 * Returns a compressed JSON text; undefined when it is short or very long. Its entity tag differs from that of the
 * plain text, because strong tags differ for each encoding (RFC 9110 section 8.8.1).
 */
export function compress({ json, etag }: { json?: string; etag?: string }): Compressed | undefined {
  if (json === undefined || json.length < shortest || json.length > longest || etag === undefined) return undefined;
  return { gzip: gzipSync(json), etag: `"${hash('sha256', `gzip ${etag}`, 'base64url')}"` };
}
