// The part of stock reservations that belongs to orders: the id of a reservation, and the calls that make and release
// it.
import { createHash } from 'node:crypto';
import { type OperationRequest, requireCaller } from '@shop/shared/http';
import { type Fault, Problem, type ProblemCode } from '@shop/shared/problem';
import { newId } from '@shop/shared/runtime';
import type { OrdersContext } from '../context.ts';
import type { components } from '../generated.ts';
import {
  countDelivered,
  type HoldLimits,
  holdRefusal,
  type NetworkHold,
  toHoldLimits,
  toNetworkHold,
} from './hold-limits.ts';
import { resolveToOrder } from './reservation-claim.ts';

export interface WantedLine {
  readonly productId: string;
  readonly quantity: number;
  /** The indexes of the product in the request's `items`, because a request may contain it more than once. */
  readonly positions: readonly number[];
}

export type OrderInput = components['schemas']['NewOrder'];

/** Returns one line for each product, in the order of first appearance, with the sum of the quantities. */
export function toWantedLines({ items }: OrderInput): WantedLine[] {
  const lines = new Map<string, { productId: string; quantity: number; positions: number[] }>();
  for (const [position, { productId, quantity }] of items.entries()) {
    const line = lines.get(productId) ?? { productId, quantity: 0, positions: [] };
    line.quantity += quantity;
    line.positions.push(position);
    lines.set(productId, line);
  }
  return [...lines.values()];
}

/** The units of a product that an order has. */
export interface OrderedUnits {
  readonly productId: string;
  readonly quantity: number;
}

export interface ReservedLine {
  readonly productId: string;
  readonly name: string;
  readonly unitPriceMinor: number;
  /** Absent from a catalogue of the previous release. */
  readonly usualPriceMinor?: number;
  /** Absent for a product without one, and, as all members below, from a catalogue of the previous release. */
  readonly taxCategory?: string;
  readonly weightGrams?: number;
  readonly shipped?: boolean;
  readonly brand?: string;
  readonly category?: string;
  readonly group?: string;
}

/** `held`: reserved for this order. `gone`: the id is used up. `refused`: nothing was reserved, with the reasons. */
export type ReservedStock =
  | { readonly state: 'held'; readonly id: string; readonly lines: readonly ReservedLine[] }
  | { readonly state: 'gone' }
  | { readonly state: 'refused'; readonly problem: Problem };

const derivedAttempts = 3;

/**
 * Returns the reservation id of this attempt. With an idempotency key, the id is derived from the request, so that a
 * repeat after a crash finds its own reservation instead of making a second one. After a few used ids, a random id is
 * used.
 */
export function reservationIdFor(request: OperationRequest, lines: readonly WantedLine[], attempt: number): string {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || attempt >= derivedAttempts) return newId();
  const wanted = lines.map(({ productId, quantity }) => [productId, quantity]);
  const seed = JSON.stringify(['reservation', requireCaller(request).accountId, key, attempt, wanted]);
  const hex = createHash('sha256').update(seed).digest('hex');
  // RFC 9562 section 5.8: version 8 for custom values, variant 10.
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  const [third, fourth] = [`8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return [hex.slice(0, 8), hex.slice(8, 12), third, fourth, hex.slice(20, 32)].join('-');
}

/**
 * Reserves the stock in the catalogue, all lines or none, within the limits of the account. Delivered orders raise the
 * limits. They are counted only for an order that would otherwise be rejected.
 * @throws Problem `service-unavailable` when the outcome is unknown. The same id can be tried again; the catalogue
 * resolves it after its expiry.
 */
export async function reserveStock(
  request: OperationRequest,
  context: OrdersContext,
  id: string,
  wanted: readonly WantedLine[],
): Promise<ReservedStock> {
  const caller = requireCaller(request);
  const { holdNetworkUnits, idempotencySecrets } = context;
  const networkHold = toNetworkHold(holdNetworkUnits, caller, request.headers, idempotencySecrets[0]);
  const reserve = (delivered: number): Promise<ReservedStock> =>
    requestReservation(request, context, {
      id,
      wanted,
      holdLimits: toHoldLimits(context.holdSettings, caller, delivered),
      networkHold,
    });
  const reserved = await reserve(0);
  if (reserved.state !== 'refused' || reserved.problem.code !== 'hold-limit') return reserved;
  const delivered = await countDelivered(context.database, caller.accountId);
  return delivered === 0 ? reserved : reserve(delivered);
}

interface WantedStock {
  readonly id: string;
  readonly wanted: readonly WantedLine[];
  readonly holdLimits: HoldLimits | undefined;
  readonly networkHold: NetworkHold | undefined;
}

async function requestReservation(
  request: OperationRequest,
  context: OrdersContext,
  { id, wanted, holdLimits, networkHold }: WantedStock,
): Promise<ReservedStock> {
  const caller = requireCaller(request);
  const { status, body } = await context.catalogue.post(
    '/internal/reservations',
    {
      reservationId: id,
      accountId: caller.accountId,
      lines: wanted.map(({ productId, quantity }) => ({ productId, quantity })),
      ...(holdLimits && { holdLimits }),
      ...(networkHold && { networkHold }),
    },
    request,
  );
  if (status === 200) {
    const answer = body as { state: 'held'; lines: readonly ReservedLine[] } | { state: 'gone' };
    return answer.state === 'held' ? { ...answer, id } : answer;
  }
  const problem = body as ProblemBody | undefined;
  if (problem?.code === 'insufficient-stock' || problem?.code === 'product-not-available') {
    const errors = (problem.errors ?? []).flatMap((fault) => atItems(fault, wanted));
    return { state: 'refused', problem: new Problem(problem.code, problem.detail ?? '', { errors }) };
  }
  if (problem?.code === 'hold-limit') {
    return { state: 'refused', problem: holdRefusal(problem.errors ?? [], caller) };
  }
  // During an update, a catalogue of a previous release does not accept these members.
  const refuses = (member: string): boolean =>
    status === 400 && problem?.errors?.some(({ pointer }) => pointer === `/${member}`) === true;
  if ((holdLimits && refuses('holdLimits')) || (networkHold && refuses('networkHold'))) {
    const accepted = refuses('holdLimits') ? undefined : holdLimits;
    return requestReservation(request, context, { id, wanted, holdLimits: accepted, networkHold: undefined });
  }
  throw unavailable('a reservation', status, problem);
}

interface PricedLine extends Partial<ReservedLine> {
  readonly productId: string;
  /** Why the line could not be reserved. */
  readonly fault?: Fault;
}

interface Prices {
  readonly lines: readonly PricedLine[];
  /** The limits of the account that the reservation would exceed. */
  readonly holdFaults?: readonly Fault[];
}

/**
 * Returns what the lines would be reserved with, without a reservation: the lines whose products are for sale, and the
 * problems for which they could not be reserved.
 */
export async function findPrices(
  request: OperationRequest,
  context: OrdersContext,
  wanted: readonly WantedLine[],
): Promise<{ readonly lines: (WantedLine & ReservedLine)[]; readonly problems: Problem[] }> {
  const { caller } = request;
  const read = (delivered: number) => requestPrices(request, context, wanted, delivered);
  let found = await read(0);
  if (caller !== undefined && (found.holdFaults?.length ?? 0) > 0) {
    const delivered = await countDelivered(context.database, caller.accountId);
    if (delivered > 0) found = await read(delivered);
  }
  const { lines, holdFaults = [] } = found;
  const faults = lines.flatMap(({ fault }) => fault ?? []);
  const isLacking = faults.some(({ available }) => available !== undefined);
  const [code, detail]: [ProblemCode, string] = isLacking
    ? ['insufficient-stock', 'There is not enough stock for the order. Nothing was ordered.']
    : ['product-not-available', 'Not every product of the order is for sale. Nothing was ordered.'];
  const errors = faults.flatMap((fault) => atItems(fault, wanted));
  return {
    lines: wanted.flatMap((line, index) => {
      const { fault: _, name, unitPriceMinor, ...facts } = lines[index] ?? {};
      return name === undefined || unitPriceMinor === undefined ? [] : [{ ...line, ...facts, name, unitPriceMinor }];
    }),
    problems: [
      ...(errors.length === 0 ? [] : [new Problem(code, detail, { errors })]),
      ...(holdFaults.length === 0 || caller === undefined ? [] : [holdRefusal(holdFaults, caller)]),
    ],
  };
}

async function requestPrices(
  request: OperationRequest,
  { catalogue, holdSettings, holdNetworkUnits, idempotencySecrets }: OrdersContext,
  wanted: readonly WantedLine[],
  delivered: number,
): Promise<Prices> {
  const { caller, headers } = request;
  const lines = wanted.map(({ productId, quantity }) => ({ productId, quantity }));
  const holdLimits = caller && toHoldLimits(holdSettings, caller, delivered);
  const networkHold = caller && toNetworkHold(holdNetworkUnits, caller, headers, idempotencySecrets[0]);
  const limits = { ...(holdLimits && { holdLimits }), ...(networkHold && { networkHold }) };
  const isLimited = caller !== undefined && Object.keys(limits).length > 0;
  const account = isLimited ? { account: { accountId: caller.accountId, ...limits } } : {};
  const { status, body } = await catalogue.post('/internal/prices', { lines, ...account }, request);
  if (status !== 200) throw unavailable('prices', status, body as ProblemBody | undefined);
  return body as Prices;
}

/**
 * Assigns units on hand to a reservation when its order is about to ship. Returns the problem when units are missing.
 * @param lines all units of the order, when some were cancelled
 * @throws Problem `service-unavailable` when the outcome is unknown. The request can be repeated.
 */
export async function allocateStock(
  request: OperationRequest,
  { catalogue }: OrdersContext,
  reservationId: string,
  lines: readonly OrderedUnits[] | undefined,
): Promise<Problem | undefined> {
  const { status, body } = await catalogue.post(
    `/internal/reservations/${reservationId}/allocate`,
    lines && { lines },
    request,
  );
  if (status === 204) return undefined;
  const problem = body as ProblemBody | undefined;
  if (problem?.code === 'stock-missing') {
    return new Problem(problem.code, problem.detail ?? '', { errors: problem.errors ?? [] });
  }
  throw unavailable('an allocation', status, problem);
}

interface ProblemBody {
  readonly code?: ProblemCode;
  readonly detail?: string;
  readonly errors?: readonly Fault[];
}

function unavailable(what: string, status: number, problem: ProblemBody | undefined): Problem {
  return new Problem('service-unavailable', 'The stock cannot be reserved at the moment. Try again shortly.', {
    headers: { 'Retry-After': '1' },
    cause: new Error(`the catalogue answered ${what} with ${status} ${problem?.code ?? ''}`),
  });
}

/** Translates a fault of a reservation's line to the items of the request. */
function atItems(fault: Fault, wanted: readonly WantedLine[]): Fault[] {
  const line = wanted.find(({ productId }) => productId === fault.productId);
  return (line?.positions ?? []).map((position) => ({ ...fault, pointer: `/items/${position}` }));
}

/**
 * Releases a reservation that no order will use. It is resolved here first, so that no repeat of the request can commit
 * an order with it. Then the catalogue releases the stock. When that call fails, the catalogue resolves the reservation
 * after its expiry.
 */
export async function releaseUnusedReservation(
  request: OperationRequest,
  context: OrdersContext,
  id: string,
): Promise<void> {
  const { accountId } = requireCaller(request);
  try {
    if ((await resolveToOrder(context.database, { reservationId: id, accountId })) !== null) return;
    await context.catalogue.post(`/internal/reservations/${id}/release`, undefined, request);
  } catch (error) {
    context.log.warn({ err: error, reservation: id }, 'an unused reservation is left to its expiry');
  }
}
