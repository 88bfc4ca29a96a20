// The key of the e-mails. The address that `npm start` prints contains it; afterwards, a cookie does.
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

interface Received {
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

export interface MailKey {
  /** @returns undefined without the key, else the header fields that the response needs, flat */
  permissionOf(request: Received): { readonly headers: readonly string[] } | undefined;
}

export function createMailKey(key: string): MailKey {
  const expected = digestOf(key);
  // Browsers send the cookies of one host to all of its ports, so each shop on this machine needs a different name.
  const name = `shop-mail-${expected.toString('hex', 0, 4)}`;
  const isKey = (given: string | null | undefined): boolean =>
    typeof given === 'string' && timingSafeEqual(digestOf(given), expected);
  return {
    permissionOf({ url = '', headers }) {
      const [, query] = url.split('?', 2);
      if (isKey(new URLSearchParams(query).get('key'))) {
        return { headers: ['Set-Cookie', `${name}=${key}; Path=/mail; HttpOnly; SameSite=Strict`] };
      }
      const cookies = headers.cookie?.split(/; */) ?? [];
      const isKnown = cookies.some((cookie) => cookie.startsWith(`${name}=`) && isKey(cookie.slice(name.length + 1)));
      return isKnown ? { headers: [] } : undefined;
    },
  };
}

/** Digests have the same length, which a comparison in constant time needs. */
function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
