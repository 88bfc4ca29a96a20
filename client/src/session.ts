// One log-in: holds its tokens, renews them shortly before they expire or when they are refused, until it ends.
import { removeTrailingSlash } from 'openapi-fetch';
import type { components } from './contract.ts';

/** Those of a customer or a member of staff. A machine gets no refresh token, and needs no session. */
export type Tokens = Required<components['schemas']['Tokens']>;

export interface SessionOptions {
  readonly baseUrl: string;
  readonly send: (request: Request) => Promise<Response>;
  /** Told about every renewed pair, and `undefined` when no more can be had; not about an end that was asked for. */
  readonly onTokens: (tokens: Tokens | undefined) => void;
}

/** Milliseconds before its end at which an access token is renewed. */
const early = 30_000;

export class Session {
  readonly #options: SessionOptions;
  #tokens: Tokens | undefined;
  #expiresAt = 0;
  #renewal: Promise<string | undefined> | undefined;

  constructor(tokens: Tokens, options: SessionOptions) {
    this.#options = options;
    this.#keep(tokens);
  }

  /** Nothing goes out in its name any more, also not what waits for a renewal. Returns the tokens that it held. */
  end(): Tokens | undefined {
    const tokens = this.#tokens;
    this.#tokens = undefined;
    return tokens;
  }

  /** The access token, a new one if need be; undefined after the end. */
  async accessToken(): Promise<string | undefined> {
    if (this.#tokens === undefined) return undefined;
    return Date.now() < this.#expiresAt - early ? this.#tokens.access_token : this.renew(this.#tokens.access_token);
  }

  /**
   * Returns a new access token for one that was refused or is about to expire. A refresh token is valid once, and using
   * it twice ends the session. Concurrent calls therefore share one renewal.
   */
  renew(old: string): Promise<string | undefined> {
    if (this.#tokens?.access_token !== old) return Promise.resolve(this.#tokens?.access_token);
    this.#renewal ??= this.#exchange(this.#tokens.refresh_token).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #exchange(refreshToken: string): Promise<string | undefined> {
    const { baseUrl, send, onTokens } = this.#options;
    const response = await send(
      new Request(`${removeTrailingSlash(baseUrl)}/v1/tokens`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ refresh_token: refreshToken }),
      }),
    );
    const renewed = response.ok ? ((await response.json()) as Tokens) : undefined;
    // Ended meanwhile, it stays so: another session may have begun.
    if (this.#tokens === undefined) return undefined;
    // Any other refusal than 401 may pass: the token in hand may still do.
    if (renewed !== undefined || response.status === 401) {
      this.#keep(renewed);
      onTokens(renewed);
    }
    return this.#tokens?.access_token;
  }

  #keep(tokens: Tokens | undefined): void {
    this.#tokens = tokens;
    this.#expiresAt = Date.now() + (tokens?.expires_in ?? 0) * 1_000;
  }
}
