// One log-in: stores its tokens, and renews them shortly before they expire or when they are rejected, until the
// session ends. Customers and staff renew with the refresh token, a machine with its secret.
import type { components } from './contract.ts';
import { type RepeatingSend, retryAfter } from './repeat.ts';
import { isProblem } from './shop-error.ts';

/** The tokens of a customer or of staff. A machine gets no refresh token. */
export type Tokens = Required<components['schemas']['Tokens']>;

export interface MachineCredentials {
  readonly client_id: string;
  readonly client_secret: string;
}

type AnyTokens = components['schemas']['Tokens'];
type TokenRequest = components['schemas']['TokenRequest'];

export interface SessionOptions {
  /** The address of the shop without a trailing slash. */
  readonly baseUrl: string;
  readonly send: RepeatingSend;
  /** The credentials with which a machine renews its token. */
  readonly machine?: MachineCredentials | undefined;
  /**
   * Called with every renewed pair, and with `undefined` when no renewal is possible any more. Not called when the
   * caller closes the session, and never with the token of a machine.
   */
  readonly onTokens: (tokens: Tokens | undefined) => void;
}

/** Milliseconds before its expiry at which an access token is renewed. */
const early = 30_000;
/**
 * Milliseconds after its first attempt during which a renewal is retried. The shop returns the same new refresh token
 * for 60 seconds, and revokes the session when the old one is used later.
 */
const repeatWithin = 50_000;
/** Milliseconds without a renewal after one that failed, when its response had no `Retry-After`. */
const restAfterFailure = 5_000;

export class Session {
  readonly #options: SessionOptions;
  #tokens: AnyTokens | undefined;
  #expiresAt = 0;
  #renewal: Promise<string | undefined> | undefined;
  #noRenewalBefore = 0;

  constructor(tokens: AnyTokens, options: SessionOptions) {
    this.#options = options;
    this.#keep(tokens);
  }

  /**
   * Closes the session. No further request uses its tokens, not even one that waits for a renewal. Returns the tokens.
   */
  end(): AnyTokens | undefined {
    const tokens = this.#tokens;
    this.#tokens = undefined;
    return tokens;
  }

  /** Whether its tokens are no longer used, because the caller closed the session or the shop rejected the renewal. */
  get ended(): boolean {
    return this.#tokens === undefined;
  }

  /** Whether the access token may have expired, because its last renewal failed and the next one waits. */
  get isRenewalOverdue(): boolean {
    return this.#tokens !== undefined && Date.now() < this.#noRenewalBefore;
  }

  /** Returns the access token, and renews it if necessary; undefined after the end of the session. */
  async accessToken(): Promise<string | undefined> {
    if (this.#tokens === undefined) return undefined;
    return Date.now() < this.#expiresAt - early ? this.#tokens.access_token : this.renew(this.#tokens.access_token);
  }

  /**
   * Returns a new access token for one that was rejected or is about to expire, or the old one when the renewal fails.
   * A refresh token is valid once, so concurrent calls share one renewal. After a failure, the tokens stay stored, and
   * no further renewal is tried for a while.
   */
  renew(old: string): Promise<string | undefined> {
    if (this.#tokens?.access_token !== old || Date.now() < this.#noRenewalBefore)
      return Promise.resolve(this.#tokens?.access_token);
    this.#renewal ??= this.#exchange(this.#renewalOf(this.#tokens)).finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  #renewalOf({ refresh_token }: AnyTokens): TokenRequest {
    const { machine } = this.#options;
    if (machine !== undefined) return machineLogIn(machine);
    return refresh_token === undefined ? {} : { refresh_token };
  }

  async #exchange(credentials: TokenRequest): Promise<string | undefined> {
    const { baseUrl, send, onTokens } = this.#options;
    const request = new Request(`${baseUrl}/v1/tokens`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(credentials),
    });
    const began = Date.now();
    const response = await send(request, undefined, (wait) => Date.now() + wait < began + repeatWithin).catch(
      () => undefined,
    );
    const content: unknown = await response?.json().catch(() => undefined);
    const renewed = response?.ok && isTokens(content) ? content : undefined;
    // A 401 without a problem comes from another server, such as a proxy.
    const isRefused = response?.status === 401 && isProblem(content);
    // The session ended meanwhile, so the new tokens are not stored: another session may have begun.
    if (this.#tokens === undefined) return undefined;
    // Any other error may be temporary, so the present tokens stay stored.
    if (renewed !== undefined || isRefused) {
      this.#keep(renewed);
      if (renewed === undefined || isPair(renewed)) onTokens(renewed);
    } else {
      this.#noRenewalBefore = Date.now() + ((response && retryAfter(response)) ?? restAfterFailure);
    }
    return this.#tokens?.access_token;
  }

  #keep(tokens: AnyTokens | undefined): void {
    this.#tokens = tokens;
    this.#expiresAt = Date.now() + (tokens?.expires_in ?? 0) * 1_000;
  }
}

export function machineLogIn({ client_id, client_secret }: MachineCredentials): TokenRequest {
  return { grant_type: 'client_credentials', client_id, client_secret };
}

export function isPair(tokens: AnyTokens): tokens is Tokens {
  return tokens.refresh_token !== undefined;
}

function isTokens(content: unknown): content is AnyTokens {
  return typeof content === 'object' && content !== null && 'access_token' in content;
}
