// Sends generated requests to a shop, several at a time, and judges every response.
import { once } from 'node:events';
import { type Contract, type ContractOperation, loadContract } from '@shop/shared/contract';
import { newId } from '@shop/shared/runtime';
import { encoded, sendable } from '../../request-text.ts';
import type { ReceivedAnswer } from '../raw-http/answer.ts';
import { type SentRequest, send } from '../raw-http/send.ts';
import { type Caller, Callers } from './callers.ts';
import { Judge } from './judge.ts';
import { Memory } from './memory.ts';
import { plannedRequests } from './plan.ts';
import { curlOf, faultText, Report } from './report.ts';
import { type PlannedRequest, requestsFor } from './requests.ts';
import type { FuzzedShop } from './shop.ts';
import { Slot, type Text, written } from './slots.ts';

export interface RunOptions {
  readonly requests: number;
  /** The same seed plans the same requests. Ids and tokens in them are those of the shop of the run. */
  readonly seed: number;
  /** The number of the first request. A run that starts where another one has ended continues its plan. */
  readonly from?: number;
  readonly inFlight?: number;
  /** Ends the run. Requests in progress do not count, because the shop may be ending, too. */
  readonly signal?: AbortSignal;
  /** Gets a line every few seconds, and the first fault of each kind when it is found. */
  readonly progress?: (line: string) => void;
}

const progressEvery = 5_000;
const mailEvery = 500;

/** @returns the report of all requests; of those so far when the run fails */
export async function fuzz(shop: FuzzedShop, options: RunOptions): Promise<Report> {
  const run = new Run(shop, loadContract(shop.contractFile), await Callers.create(shop), options);
  return run.all(options);
}

interface Prepared {
  readonly sent: SentRequest;
  /** The path of the planned operation, with its parameters. */
  readonly path: string;
  /** The operation that the request addresses; undefined when none does. */
  readonly operation: ContractOperation | undefined;
}

class Run {
  readonly #shop: FuzzedShop;
  readonly #contract: Contract;
  readonly #callers: Callers;
  readonly #judge: Judge;
  readonly #memory = new Memory();
  readonly #report = new Report();
  readonly #name = newId().slice(-8);
  readonly #signal: AbortSignal | undefined;
  readonly #progress: (line: string) => void;
  #count = 0;

  constructor(shop: FuzzedShop, contract: Contract, callers: Callers, { signal, progress = () => {} }: RunOptions) {
    this.#shop = shop;
    this.#signal = signal;
    this.#progress = progress;
    this.#contract = contract;
    this.#callers = callers;
    this.#judge = new Judge(contract.document);
  }

  async all({ requests, seed, from = 0, inFlight = 16 }: RunOptions): Promise<Report> {
    const signal = this.#signal;
    const plans = plannedRequests(requestsFor(this.#contract), { from, count: requests, seed });
    let last = { at: performance.now(), done: 0 };
    const line = (): void => {
      const { requests: done, faults } = this.#report;
      const now = { at: performance.now(), done };
      const rate = Math.round((1_000 * (now.done - last.done)) / (now.at - last.at));
      last = now;
      this.#progress(`${done} of ${requests} requests, ${rate}/s, ${faults.size} kinds of faults`);
    };
    let isReading = false;
    const timers = [
      setInterval(line, progressEvery),
      setInterval(() => {
        if (isReading) return;
        isReading = true;
        this.#memory
          .readMail(this.#shop.mailFolder)
          .catch(() => {})
          .finally(() => {
            isReading = false;
          });
      }, mailEvery),
    ];
    const worker = async (): Promise<void> => {
      for (const [index, plan] of plans) {
        if (signal?.aborted === true || this.#report.failure !== undefined) return;
        await this.#one(index, plan);
      }
    };
    try {
      const aborted = signal === undefined ? [] : [once(signal, 'abort')];
      await Promise.race([Promise.all(Array.from({ length: inFlight }, worker)), ...aborted]);
    } catch (error) {
      this.#report.failure = error;
    } finally {
      for (const timer of timers) clearInterval(timer);
    }
    for (const { path, deviation, answer } of this.#callers.failures) {
      const curl = `curl -i -X POST ${this.#shop.url}${path}`;
      this.#report.add({ operationId: `a caller's ${path}`, index: from, deviations: [deviation], curl, answer });
    }
    line();
    return this.#report;
  }

  async #one(index: number, plan: PlannedRequest): Promise<void> {
    const caller = await this.#callers.get(plan.caller.kind, plan.caller.share);
    const { sent, path, operation } = this.#prepare(index, plan, caller);
    const operationId = operation?.operationId ?? 'no operation';
    const addFault = (deviations: string[], text: string): void => {
      const fault = { operationId, index, deviations, curl: curlOf(this.#shop.url, sent), answer: text };
      // The shop may be ending after the signal.
      if (this.#report.add(fault) && this.#signal?.aborted !== true)
        this.#progress(`FAULT ${operationId}: ${deviations.join('; ')}\n${faultText(fault)}`);
    };
    let answer: ReceivedAnswer;
    try {
      answer = await send(this.#shop.url, sent);
    } catch (error) {
      this.#report.count(operationId, 0);
      addFault([`no response: ${String(error)}`], '');
      return;
    }
    this.#report.count(operationId, answer.status);
    const asksForPage = operation === undefined && asksForPageIn(sent);
    const deviations = this.#judge.faults({ method: sent.method, operation, body: sent.body, asksForPage }, answer);
    if (deviations.length > 0)
      addFault(deviations, `${answer.status} ${JSON.stringify(answer.headers)} ${answer.text.slice(0, 600)}`);
    if (operation !== undefined) this.#learn(operation, caller, sent, path, answer);
  }

  #learn(operation: ContractOperation, caller: Caller, sent: SentRequest, path: string, answer: ReceivedAnswer): void {
    const body = answer.headers['content-type']?.includes('json') ? parsed(answer.text) : undefined;
    this.#memory.learn(path, answer.status, answer.headers, body);
    const isChange = operation.operationId === 'updateAccount' && answer.status === 200;
    const { password } = isChange ? ((parsed(sent.body?.toString() ?? '') ?? {}) as { password?: unknown }) : {};
    if (sent.headers.Authorization === `Bearer ${caller.token}`) this.#callers.note(caller, answer.status, password);
  }

  /** Fills in ids, tokens and whatever else depends on the run. */
  #prepare(index: number, plan: PlannedRequest, caller: Caller): Prepared {
    const { operation: planned, body } = plan;
    const values: Record<string, string> = {};
    const fill = (slot: Slot): unknown => this.#fill(slot, caller, planned.path, values);
    const text = (parts: Text): string =>
      parts.map((part) => (part instanceof Slot ? String(fill(part) ?? '') : part)).join('');
    for (const [name, parts] of Object.entries(plan.path)) values[name] = text(parts);
    const path = planned.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(values[name] ?? ''));
    values.resource = path.replace(
      /\/(cancel|process|ship|deliver|erase|history|approve|refuse|receive|withdraw)$/,
      '',
    );
    const search = plan.query.map(([name, parts]) => `${encoded(name)}=${encoded(text(parts))}`).join('&');
    const own = search === '' ? path : `${path}?${search}`;
    const next = plan.followsLink ? this.#memory.pick(`next ${path}`, plan.caller.share) : '';
    const { otherPath, method } = plan;
    const template = otherPath === undefined ? planned.path : templateOf(this.#contract, otherPath);
    const operation =
      template === undefined ? undefined : addressed(this.#contract, method, otherPath ?? path, template);
    const given = body === undefined ? undefined : this.#written(body, fill);
    // Each request has a client address of its own, and so shares no limit with others.
    const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
    const headers: Record<string, string> = { 'X-Forwarded-For': address };
    if (caller.token !== undefined) headers.Authorization = sendable(`Bearer ${caller.token}`);
    if (body !== undefined && body.mediaType !== '') headers['Content-Type'] = body.mediaType;
    for (const [name, parts] of plan.headers) headers[name] = sendable(text(parts));
    if (headers['Idempotency-Key'] !== undefined) this.#memory.remember('key', headers['Idempotency-Key']);
    const target = plan.otherPath ?? (next.startsWith('/') ? next : own);
    const sent = { method: plan.method, target, headers, body: given, chunked: body?.chunked ?? false };
    return { sent, path, operation };
  }

  #written({ value, lines, change }: NonNullable<PlannedRequest['body']>, fill: (slot: Slot) => unknown): Buffer {
    const text =
      lines && Array.isArray(value) ? value.map((line) => written(line, fill)).join('\n') : written(value, fill);
    return change === undefined ? Buffer.from(text) : change(text);
  }

  #fill({ name, pick }: Slot, caller: Caller, path: string, values: Readonly<Record<string, string>>): unknown {
    switch (name) {
      case 'ownAccountId':
        return caller.accountId ?? 'me';
      case 'newEmail':
        return `fuzz-${this.#name}-${this.#next()}@shop.test`;
      case 'newPassword':
        return `another long river ${this.#next()}`;
      case 'newReference': {
        const made = `ref-${this.#name}-${this.#next()}`;
        this.#memory.remember('reference', made);
        this.#memory.remember('sku', made);
        return made;
      }
      case 'password':
        return caller.password ?? 'not the password';
      case 'callerEmail':
        return caller.email ?? 'nobody@shop.test';
      case 'clientId':
        return this.#callers.machine(pick).clientId;
      case 'clientSecret':
        return this.#callers.machine(pick).clientSecret;
      case 'total':
        return this.#memory.totalOf(values.orderId ?? '');
      case 'lines of createReturn':
        return this.#memory.linesOf(values.orderId ?? '').map((line) => ({
          productId: line.productId,
          quantity: 1,
          reason: 'damaged',
        }));
      case 'lines of receiveReturn':
        return this.#memory.linesOf(values.returnId ?? '').map((line) => ({
          productId: line.productId,
          quantity: line.quantity,
          restock: pick < 0.5,
        }));
      case 'returnId':
        return this.#memory.pickFirst(pick < 0.8 ? [...usualReturns(path, caller), name] : [name], pick);
      case 'token':
        return this.#memory.pick(`token ${path}`, pick);
      case 'orderId':
        return this.#memory.pickFirst(pick < 0.8 ? [...usualOrders(path, caller), name] : [name], pick);
      case 'tag':
        return this.#memory.tagOf(values.resource ?? '');
      default:
        return this.#memory.pick(name, pick);
    }
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

/** The names of the orders that succeed most often: those of the caller, or those in the state that a move expects. */
function usualOrders(path: string, { accountId }: Caller): string[] {
  if (path.endsWith('/ship')) return ['processing orderId'];
  if (/\/(deliver|returns|invoice)$/.test(path)) return ['shipped orderId'];
  return [`orderId of ${accountId}`];
}

/** The names of the returns in the state that an operation expects; to withdraw one, those of the caller. */
function usualReturns(path: string, { accountId }: Caller): string[] {
  if (path.endsWith('/receive')) return ['approved returnId'];
  return path.endsWith('/withdraw') ? [`requested returnId of ${accountId}`] : ['requested returnId'];
}

/** The template of the path of an operation that another path happens to match, such as /v1/orders/more. */
function templateOf({ operations }: Contract, path: string): string | undefined {
  const matches = (template: string): boolean =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[\\w-]+')}$`).test(path);
  return operations.find((operation) => matches(operation.path))?.path;
}

/** The operation that a request with this method addresses, at a path made from a template. */
function addressed({ operations }: Contract, method: string, path: string, template: string) {
  const fixed = operations.find((operation) => operation.path === path);
  const wanted = method === 'HEAD' ? 'get' : method.toLowerCase();
  return operations.find((operation) => operation.path === (fixed?.path ?? template) && operation.method === wanted);
}

/** Addresses of programs, which have no pages. */
const forPrograms = /^\/(?:v1|\.well-known|health|internal)(?:[/?]|$)/;

/** Whether the request is that of a browser, outside the API. */
function asksForPageIn({ method, target, headers }: SentRequest): boolean {
  return (
    ['GET', 'HEAD'].includes(method) && !forPrograms.test(target) && headers.Accept?.includes('text/html') === true
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One segment of a path. Empty and dotted segments would make another path of it. */
const segment = (text: string): string => encoded(text).replace(/^\.{0,2}$/, 'x');
