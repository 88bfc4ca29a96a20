// Those who send the requests: customers and staff with real log-ins, machines, and bearers of tokens that are not
// valid.
import { setTimeout as sleep } from 'node:timers/promises';
import { createMachine, grantScopes, type StaffScope, staffScopes } from '@shop/accounts/operator';
import { newId } from '@shop/shared/runtime';
import { generateKeyPair, SignJWT } from 'jose';
import { send } from '../raw-http/send.ts';
import type { FuzzedShop } from './shop.ts';

export interface Caller {
  readonly kind: string;
  /** The access token; undefined for an anonymous caller. */
  readonly token?: string;
  readonly accountId?: string;
  readonly email?: string;
  readonly password?: string;
}

interface Holder {
  readonly scopes: readonly StaffScope[];
  email: string;
  password: string;
  accountId: string;
  token: string;
  renewAt: number;
  renewing?: Promise<void> | undefined;
}

/** Milliseconds after which a token is replaced. It is valid for 15 minutes. */
const renewAfter = 8 * 60_000;
/** Milliseconds before a second attempt. */
const renewPause = 5_000;
const customerCount = 6;

export class Callers {
  /** The registrations and log-ins that were answered 5xx or not at all. They are repeated. */
  readonly failures: { readonly path: string; readonly deviation: string; readonly answer: string }[] = [];
  readonly #shop: FuzzedShop;
  readonly #run: string;
  readonly #holders = new Map<string, Holder>();
  readonly #broken: string[] = ['', 'x', 'a.b.c', 'null', `${'e'.repeat(3_000)}.x.y`];
  readonly #machines: { kind: string; token: string; renewAt: number; clientId: string; clientSecret: string }[] = [];
  #count = 0;

  private constructor(shop: FuzzedShop, run: string) {
    this.#shop = shop;
    this.#run = run;
  }

  static async create(shop: FuzzedShop): Promise<Callers> {
    const callers = new Callers(shop, newId().slice(-8));
    const staff: (readonly StaffScope[])[] = [...staffScopes.map((scope) => [scope]), staffScopes];
    await callers.#addBroken();
    for (let index = 0; index < customerCount; index += 1) await callers.#add(`customer ${index}`, []);
    for (const scopes of staff) {
      const name = scopes.length === 1 ? scopes.join() : 'all';
      await callers.#add(`staff ${name}`, scopes);
      const machine = await createMachine(
        { DATABASE_URL: shop.accountsDatabase },
        `fuzz-${callers.#run}-${name.replace(':', '-')}`,
        scopes,
      );
      callers.#machines.push({ kind: `machine ${name}`, token: '', renewAt: 0, ...machine });
    }
    return callers;
  }

  /** The client id and secret of a machine. */
  machine(share: number): { clientId: string; clientSecret: string } {
    const machine = this.#machines[Math.floor(share * this.#machines.length)];
    if (machine === undefined) throw new Error('there are no machines');
    return machine;
  }

  /** @param kind such as `customer`, `staff orders:fulfil`, `machine all`, `broken` or `anonymous` */
  async get(kind: string, share: number): Promise<Caller> {
    if (kind === 'anonymous') return { kind };
    if (kind === 'broken') return { kind, token: this.#broken[Math.floor(share * this.#broken.length)] ?? '' };
    const machine = this.#machines.find((each) => each.kind === kind);
    if (machine !== undefined) {
      if (machine.renewAt < performance.now()) {
        const body = {
          grant_type: 'client_credentials',
          client_id: machine.clientId,
          client_secret: machine.clientSecret,
        };
        machine.token = String((await this.#post('/v1/tokens', body)).access_token);
        machine.renewAt = performance.now() + renewAfter;
      }
      return { kind, token: machine.token };
    }
    const name = kind === 'customer' ? `customer ${Math.floor(share * customerCount)}` : kind;
    const holder = this.#holders.get(name);
    if (holder === undefined) throw new Error(`there is no caller ${name}`);
    if (holder.renewAt < performance.now()) await this.#renew(holder);
    return { ...holder, kind: name };
  }

  /** Notes what a response says about the log-in of its caller. */
  note(caller: Caller, status: number, changedPassword: unknown): void {
    const holder = this.#holders.get(caller.kind);
    if (holder === undefined) return;
    if (status === 200 && typeof changedPassword === 'string') holder.password = changedPassword;
    if (status === 401 && holder.token === caller.token) {
      // Ended sessions leave tokens behind that are no longer valid.
      this.#broken.push(holder.token);
      if (this.#broken.length > 30) this.#broken.splice(6, 1);
      holder.renewAt = 0;
    }
  }

  async #add(name: string, scopes: readonly StaffScope[]): Promise<void> {
    const holder: Holder = { scopes, email: '', password: '', accountId: '', token: '', renewAt: 0 };
    this.#holders.set(name, holder);
    await this.#register(holder);
  }

  /** Logs in again; with a new account when the old one was blocked or erased, or its password changed. */
  #renew(holder: Holder): Promise<void> {
    const again = (): Promise<void> => this.#logIn(holder).catch(() => this.#register(holder));
    // On a busy machine a log-in may take too long.
    holder.renewing ??= again()
      .catch(() => sleep(renewPause).then(again))
      .finally(() => {
        holder.renewing = undefined;
      });
    return holder.renewing;
  }

  async #register(holder: Holder): Promise<void> {
    this.#count += 1;
    holder.email = `caller-${this.#run}-${this.#count}@shop.test`;
    holder.password = `a long and quiet river ${this.#count}`;
    const { email, password } = holder;
    holder.accountId = String((await this.#post('/v1/accounts', { email, name: 'Fuzzed', password })).id);
    if (holder.scopes.length > 0)
      await grantScopes({ DATABASE_URL: this.#shop.accountsDatabase }, holder.email, holder.scopes);
    await this.#logIn(holder);
  }

  async #logIn(holder: Holder): Promise<void> {
    const { email, password } = holder;
    holder.token = String((await this.#post('/v1/tokens', { email, password })).access_token);
    holder.renewAt = performance.now() + renewAfter;
  }

  async #post(path: string, body: unknown): Promise<Record<string, unknown>> {
    const { status, text } = await send(this.#shop.url, {
      method: 'POST',
      target: path,
      headers: { 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
      chunked: false,
    }).catch((error: unknown) => {
      this.failures.push({ path, deviation: `no response: ${String(error)}`, answer: '' });
      throw error;
    });
    if (status >= 500) this.failures.push({ path, deviation: `status ${status}`, answer: text });
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  /** Tokens in the right form: of another issuer's key, and expired. */
  async #addBroken(): Promise<void> {
    const { privateKey } = await generateKeyPair('ES256');
    for (const seconds of [900, -900]) {
      const now = Math.floor(Date.now() / 1_000);
      const token = await new SignJWT({ accountId: newId(), scope: staffScopes.join(' ') })
        .setProtectedHeader({ alg: 'ES256', kid: '2026-11-21', typ: 'at+jwt' })
        .setIssuer(this.#shop.url)
        .setAudience('shop')
        .setSubject(newId())
        .setIssuedAt(now - 1_000)
        .setExpirationTime(now + seconds)
        .sign(privateKey);
      this.#broken.push(token);
    }
  }
}
