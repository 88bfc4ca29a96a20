// A page or file as it is sent: its bytes, its entity tag, and its Cache-Control.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { acceptsGzip } from '@shop/shared/protocol';

const compress = promisify(gzip);

export interface PageOptions {
  readonly type: string;
  readonly contentPolicy?: string;
  /** The address contains a digest of the content, so the content never changes. */
  readonly immutable?: boolean;
}

export interface Encoded {
  readonly body: Buffer;
  /** Strong, and different for each encoding (RFC 9110 section 8.8.1). */
  readonly etag: string;
  readonly encoding: 'gzip' | undefined;
}

/** Content that is created once, at the first request for it when it is given as a function, and sent unchanged. */
export class StaticPage {
  readonly type: string;
  readonly contentPolicy: string | undefined;
  readonly cacheControl: string;
  readonly #create: () => string | Buffer;
  #plain: Encoded | undefined;
  #compressed: Promise<Encoded> | undefined;

  constructor(content: string | Buffer | (() => string), { type, contentPolicy, immutable = false }: PageOptions) {
    this.type = type;
    this.contentPolicy = contentPolicy;
    this.cacheControl = immutable ? 'public, max-age=31536000, immutable' : 'public, max-age=60';
    this.#create = typeof content === 'function' ? content : () => content;
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
