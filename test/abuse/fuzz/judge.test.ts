// The judge of the fuzzer finds responses that deviate from the contract in one place.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { loadContract } from '@shop/shared/contract';
import type { ReceivedAnswer } from '../raw-http/answer.ts';
import { Judge } from './judge.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const contract = loadContract(join(root, 'services/orders/openapi.yaml'));
const judge = new Judge(contract.document);
const requestId = '01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c70';

function operation(operationId: string) {
  const found = contract.operations.find((each) => each.operationId === operationId);
  if (found === undefined) throw new Error(`no operation ${operationId}`);
  return found;
}

function page(changes: object = {}, headers: object = {}): ReceivedAnswer {
  const etag = `"${'a'.repeat(43)}"`;
  const body = { items: [], pagination: { limit: 20, hasMore: false }, ...changes };
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'x-request-id': requestId, etag, ...headers },
    text: JSON.stringify(body),
  };
}

function problem(code: string, status: number, changes: object = {}, headers: object = {}): ReceivedAnswer {
  const body = { type: `/problems/${code}`, title: 'A title', status, detail: 'A detail', instance: requestId, code };
  return {
    status,
    headers: { 'content-type': 'application/problem+json', 'x-request-id': requestId, ...headers },
    text: JSON.stringify({ ...body, ...changes }),
  };
}

const faults = (operationId: string | undefined, answer: ReceivedAnswer, method = 'GET'): string[] =>
  judge.faults({ method, operation: operationId === undefined ? undefined : operation(operationId) }, answer);

function without({ headers, ...answer }: ReceivedAnswer, name: string): ReceivedAnswer {
  return { ...answer, headers: Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name)) };
}

it.each<[string, string | undefined, ReceivedAnswer]>([
  ['a page', 'listOrders', page()],
  ['a documented problem', 'listOrders', problem('invalid-cursor', 400)],
  ['a conflict that the description names', 'shipOrder', problem('stock-missing', 409)],
  ['a refusal by the gateway', 'listOrders', problem('uri-too-long', 414)],
  ['an unknown path', undefined, problem('not-found', 404)],
  ['a wrong method', undefined, problem('method-not-allowed', 405, {}, { allow: 'GET' })],
])('the judge accepts %s', (_, operationId, answer) => {
  expect(faults(operationId, answer)).toEqual([]);
});

it.each<[string, string | undefined, ReceivedAnswer]>([
  ['a missing member', 'listOrders', page({ pagination: undefined })],
  ['a further member', 'listOrders', page({ total: 1 })],
  ['a member of another type', 'listOrders', page({ items: {} })],
  ['a missing ETag', 'listOrders', without(page(), 'etag')],
  ['a missing request id', 'listOrders', without(page(), 'x-request-id')],
  ['an undocumented header', 'listOrders', page({}, { 'x-powered-by': 'Express' })],
  ['another media type', 'listOrders', page({}, { 'content-type': 'text/plain' })],
  ['HTML', 'listOrders', { ...page({}, { 'content-type': 'text/html' }), text: '<!doctype html>' }],
  ['a body that is not JSON', 'listOrders', { ...page(), text: '{' }],
  ['an undocumented status', 'listOrders', { ...page(), status: 201 }],
  ['a status that only another operation documents', 'listOrders', problem('order-already-shipped', 409)],
  ['a code that is not documented for the status', 'cancelOrder', problem('sku-in-use', 409)],
  ['an unknown code', 'listOrders', problem('mistake', 400)],
  ['a code with another status', 'listOrders', problem('not-found', 400)],
  ['a status in the body that differs', 'listOrders', problem('invalid-request', 400, { status: 404 })],
  ['an instance that is not the request id', 'listOrders', problem('invalid-request', 400, { instance: 'x' })],
  ['an error without a problem document', 'listOrders', { ...page(), status: 400 }],
  ['a refused token without WWW-Authenticate', 'listOrders', problem('unauthenticated', 401)],
  ['a wrong method without Allow', undefined, problem('method-not-allowed', 405)],
  ['a success of no operation', undefined, page()],
  ['500', 'listOrders', problem('internal-error', 500)],
  ['503', 'listOrders', problem('service-unavailable', 503, {}, { 'retry-after': '1' })],
  ['504', undefined, problem('gateway-timeout', 504)],
])('the judge finds %s', (_, operationId, answer) => {
  expect(faults(operationId, answer)).not.toEqual([]);
});

describe('a success', () => {
  const productId = '01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c71';
  const faultsOf = (operationId: string, body: string | Buffer): string[] =>
    judge
      .faults({ method: 'POST', operation: operation(operationId), body: Buffer.from(body) }, page())
      .filter((fault) => fault.startsWith('a success with'));

  it.each<[string, string, string | Buffer]>([
    ['a body that the schema permits', 'createOrder', `{"items":[{"productId":"${productId}","quantity":1}]}`],
    ['no body where none is required', 'shipOrder', ''],
    ['no body where none is taken', 'listOrders', ''],
  ])('a success with %s is accepted', (_, operationId, body) => {
    expect(faultsOf(operationId, body)).toEqual([]);
  });

  it.each<[string, string, string | Buffer]>([
    ['a missing member', 'createOrder', '{}'],
    ['a member of another type', 'createOrder', `{"items":[{"productId":"${productId}","quantity":"1"}]}`],
    ['an unknown member', 'createOrder', `{"items":[{"productId":"${productId}","quantity":1}],"a":1}`],
    ['text that is not JSON', 'createOrder', '{'],
    ['bytes that are not UTF-8', 'createOrder', Buffer.from([0x22, 0xff, 0x22])],
    ['no body where one is required', 'createOrder', ''],
    ['a body where none is taken', 'listOrders', '{}'],
  ])('a success with %s is reported as a fault', (_, operationId, body) => {
    expect(faultsOf(operationId, body)).toHaveLength(1);
  });
});

it('the judge finds a body in a response to HEAD', () => {
  expect(faults('listOrders', { ...page(), text: '' }, 'HEAD')).toEqual([]);
  expect(faults('listOrders', page(), 'HEAD')).not.toEqual([]);
});

it('the judge accepts 503 of an import only when others are waiting', () => {
  const catalogue = loadContract(join(root, 'services/catalogue/openapi.yaml'));
  const found = catalogue.operations.find((each) => each.operationId === 'importProducts');
  const of = (detail: string): string[] =>
    new Judge(catalogue.document).faults(
      { method: 'POST', operation: found },
      problem('service-unavailable', 503, { detail }, { 'retry-after': '5' }),
    );
  expect(of('20 imports are waiting. Try again when some of them have ended.')).toEqual([]);
  expect(of('The service is temporarily unavailable. Try again shortly.')).not.toEqual([]);
});

it('the judge accepts a page of the operation that has one, and of no other', () => {
  const answer = { ...page({}, { 'content-type': 'text/html; charset=utf-8' }), text: '<!doctype html>' };
  expect(faults('getInvoice', answer)).toEqual([]);
  expect(faults('getInvoice', { ...answer, status: 404 })).not.toEqual([]);
  expect(faults('getOrder', answer)).not.toEqual([]);
});

it('the judge accepts a page outside the API, for a browser only', () => {
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" };
  const answer = { ...page({}, headers), status: 404, text: '<!doctype html>' };
  const judged = { method: 'GET', operation: undefined };
  expect(judge.faults({ ...judged, asksForPage: true }, answer)).toEqual([]);
  expect(judge.faults({ ...judged, asksForPage: true }, { ...answer, status: 500 })).not.toEqual([]);
  expect(judge.faults(judged, answer)).not.toEqual([]);
});
