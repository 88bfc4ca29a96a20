// Keeps a caller logged in: holds the tokens, renews them shortly before they expire or when they are refused.
import type { components } from './contract.ts';

export type Tokens = components['schemas']['Tokens'];

export interface SessionOptions {
  /** Told about every new pair, and `undefined` when the session has ended; keep it where it is safe. */
  readonly onTokens?: ((tokens: Tokens | undefined) => void) | undefined;
}

type Send = (request: Request) => Promise<Response>;

/** Milliseconds before its end at which an access token is renewed. */
const early = 30_000;

export class Session {
  readonly #address: URL;
  readonly #send: Send;
  readonly #onTokens: (tokens: Tokens | undefined) => void;
  #tokens: Tokens | undefined;
  #expiresAt = 0;
  #renewal: Promise<string | undefined> | undefined;

  constructor(baseUrl: string, send: Send, { onTokens }: SessionOptions) {
    this.#address = new URL('/v1/tokens', baseUrl);
    this.#send = send;
    this.#onTokens = onTokens ?? (() => {});
  }

  get tokens(): Tokens | undefined {
    return this.#tokens;
  }

  keep(tokens: Tokens | undefined): void {
    this.#tokens = tokens;
    this.#expiresAt = Date.now() + (tokens?.expires_in ?? 0) * 1_000;
    this.#onTokens(tokens);
  }

  /** The access token, a new one if need be; undefined without a session. */
  async accessToken(): Promise<string | undefined> {
    if (this.#tokens === undefined) return undefined;
    return Date.now() < this.#expiresAt - early ? this.#tokens.access_token : this.renew(this.#tokens.access_token);
  }

  /**
   * A new access token in place of one that is refused or about to expire. A refresh token works once, and presented twice
   * it ends the session: whoever comes while a renewal runs gets the result of that one.
   */
  renew(old: string): Promise<string | undefined> {
    if (this.#tokens !== undefined && this.#tokens.access_token !== old)
      return Promise.resolve(this.#tokens.access_token);
    this.#renewal ??= this.#exchange().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #exchange(): Promise<string | undefined> {
    const tokens = this.#tokens;
    if (tokens === undefined) return undefined;
    const response = await this.#send(
      new Request(this.#address, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ refresh_token: tokens.refresh_token }),
      }),
    );
    if (response.ok) this.keep((await response.json()) as Tokens);
    else if (response.status === 401) this.keep(undefined);
    // Anything else may pass: the token in hand may still do.
    return this.#tokens?.access_token;
  }
}
