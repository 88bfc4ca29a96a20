// A page or file as it is sent: its bytes, its entity tag, and its Cache-Control.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsGzip, notModified } from '@shop/shared/protocol';
import type { PageRequest, PageResponse } from './page.ts';

const compress = promisify(gzip);

export interface PageOptions {
  readonly type: string;
  readonly contentPolicy?: string;
  /** The address contains a digest of the content, so the content never changes. */
  readonly immutable?: boolean;
  /** Programs, or clients of other machines, get other content at the address. */
  readonly negotiated?: boolean;
}

interface Encoded {
  readonly body: Buffer;
  /** Strong, and different for each encoding (RFC 9110 section 8.8.1). */
  readonly etag: string;
  readonly encoding: 'gzip' | undefined;
}

/** Content that is created once, at the first request for it when it is given as a function, and sent unchanged. */
export class StaticPage {
  readonly #options: PageOptions;
  readonly #create: () => string | Buffer;
  #plain: Encoded | undefined;
  #compressed: Promise<Encoded> | undefined;

  constructor(content: string | Buffer | (() => string), options: PageOptions) {
    this.#options = options;
    this.#create = typeof content === 'function' ? content : () => content;
  }

  /** Returns the response to a request; 304 when the client has the content. */
  async respond({ headers: given }: PageRequest): Promise<PageResponse> {
    const { type, contentPolicy, immutable = false, negotiated = false } = this.#options;
    const { body, etag, encoding } = await this.encoded(given['accept-encoding']?.toString());
    const age = immutable ? 'public, max-age=31536000, immutable' : 'public, max-age=60';
    const cacheControl = negotiated ? 'private, no-cache' : age;
    const vary = negotiated ? 'Accept, Accept-Encoding' : 'Accept-Encoding';
    const headers = ['ETag', etag, 'Cache-Control', cacheControl, 'Vary', vary];
    const policy = contentPolicy === undefined ? {} : { contentPolicy };
    if (notModified(given, etag)) return { status: 304, headers, ...policy };
    if (encoding !== undefined) headers.push('Content-Encoding', encoding);
    return { type, body, headers, ...policy };
  }

  /** Returns the content in an encoding that the client accepts. It is compressed at the first request for it. */
  encoded(acceptEncoding: string | undefined): Promise<Encoded> {
    if (!acceptsGzip(acceptEncoding)) return Promise.resolve(this.#unencoded());
    this.#compressed ??= this.#compress();
    return this.#compressed;
  }

  #unencoded(): Encoded {
    if (this.#plain === undefined) {
      const body = Buffer.from(this.#create());
      this.#plain = { body, etag: `"${digest(body)}"`, encoding: undefined };
    }
    return this.#plain;
  }

  async #compress(): Promise<Encoded> {
    const { body, etag } = this.#unencoded();
    return { body: await compress(body), etag: `${etag.slice(0, -1)}-gzip"`, encoding: 'gzip' };
  }
}

/** Returns twelve hexadecimal digits that change with the content. */
export function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}
