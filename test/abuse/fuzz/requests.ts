// Generated requests for every operation of the public contract: valid ones, and ones with something wrong.
import { staffScopes } from '@shop/accounts/operator';
import { type Contract, type ContractOperation, dereference, type Node, toNode } from '@shop/shared/contract';
import fc from 'fast-check';
import { bodiesOf, type PlannedBody, unexpectedBodies } from './bodies.ts';
import { headersOf, oddHeader } from './headers.ts';
import { type Pair, queryPairs, queryTexts } from './query.ts';
import { often, plain, Slot, share, slot, type Text } from './slots.ts';
import { wildText } from './values.ts';

export interface PlannedRequest {
  readonly operation: ContractOperation;
  readonly method: string;
  /** The values of the path parameters, by name. */
  readonly path: Readonly<Record<string, Text>>;
  /** Replaces the path, for a request that no operation takes. */
  readonly otherPath: string | undefined;
  /** Whether the request follows the `Link` of an earlier page instead. */
  readonly followsLink: boolean;
  readonly query: readonly (readonly [string, Text])[];
  readonly headers: readonly (readonly [string, Text])[];
  readonly caller: { readonly kind: string; readonly share: number };
  readonly body: PlannedBody | undefined;
}

/**
 * Operations that hash passwords, send e-mails or do their work afterwards cost many times as much as others, and some
 * end what others need.
 */
const weights: Readonly<Record<string, number>> = {
  registerAccount: 3,
  issueToken: 3,
  updateAccount: 5,
  eraseAccount: 6,
  requestPasswordReset: 6,
  sendPasswordReset: 5,
  confirmPasswordReset: 3,
  resendVerification: 4,
  exportAccount: 4,
  blockAccount: 3,
  endAccountSessions: 4,
  endOtherSessions: 4,
  importProducts: 6,
  archiveProduct: 9,
  cancelOrder: 15,
  createOrder: 72,
  recordPayment: 60,
  processOrder: 48,
  shipOrder: 36,
  createReturn: 48,
  approveReturn: 9,
  refuseReturn: 9,
  withdrawReturn: 36,
  archiveShippingMethod: 6,
  updateShippingMethod: 9,
  archiveTaxRate: 9,
  archiveDiscount: 9,
  deleteWebhook: 12,
};
const usualWeight = 24;

/** Generates requests for all operations of the contract. */
export function requestsFor({ document, operations }: Contract): fc.Arbitrary<PlannedRequest> {
  return fc.oneof(
    ...operations.map((operation) => ({
      weight: weights[operation.operationId] ?? usualWeight,
      arbitrary: requestsOf(document, operation),
    })),
  );
}

function requestsOf(document: Node, operation: ContractOperation): fc.Arbitrary<PlannedRequest> {
  const item = toNode(toNode(document.paths)[operation.path]);
  const described = toNode(item[operation.method]);
  const parameters = [item.parameters, described.parameters]
    .flatMap((list) => (Array.isArray(list) ? list : []))
    .map((parameter) => dereference(document, parameter));
  const named = (place: string) => parameters.filter((parameter) => parameter.in === place);
  const method = operation.method.toUpperCase();
  const queries = named('query').map((parameter) => [String(parameter.name), queryTexts(document, parameter)] as const);
  const expected = named('header').map(({ name }) => String(name));
  return fc.record({
    operation: fc.constant(operation),
    method: often(
      40,
      fc.constant(method),
      fc.constantFrom('HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'GET', 'POST', 'PROPFIND', 'QUERY'),
    ),
    path: fc.record(Object.fromEntries(named('path').map(({ name }) => [String(name), pathTexts(String(name))]))),
    otherPath: often<string | undefined>(60, fc.constant(undefined), otherPaths(operation.path)),
    followsLink: fc.integer({ min: 0, max: 9 }).map((number) => number === 0 && method === 'GET'),
    query: queryPairs(queries),
    headers: fc
      .tuple(
        headersOf(expected),
        often<readonly Pair[]>(
          2,
          fc.constant([]),
          oddHeader.map((pair) => [pair]),
        ),
      )
      .map(([usual, odd]) => [...usual, ...odd]),
    caller: callersOf(operation),
    body: operation.body === undefined ? unexpectedBodies : bodiesOf(document, operation, described),
  });
}

function pathTexts(name: string): fc.Arbitrary<Text> {
  const existing = slot(name).map((each): Text => [each]);
  const own = fc.constantFrom<Text>(['me'], [new Slot('ownAccountId', 0)]);
  const odd = fc.oneof(
    plain(fc.uuid({ version: 7 })),
    plain(fc.uuid({ version: 4 }).map((id) => id.toUpperCase())),
    plain(wildText.map((text) => text || 'x')),
    fc.constantFrom<Text>(['0'], ['null'], ['-1'], ['a b'], ['a/b'], ['a'.repeat(500)], ["' OR 1=1 --"], ['imports']),
  );
  return often(9, name === 'accountId' ? fc.oneof(own, existing) : existing, odd);
}

function otherPaths(path: string): fc.Arbitrary<string> {
  return fc.oneof(
    fc
      .constantFrom(
        `${path}/`,
        `/${path}`,
        `${path}/more`,
        path.toUpperCase(),
        path.replace('/v1', ''),
        path.replace('/v1', '/v2'),
        path.replace('/v1', '/internal'),
        `${path}/%zz`,
        `${path}/%00`,
        `${path}/%ff%fe`,
        `${path}/../..`,
        `${path};a=b`,
        '/',
        '/%2e%2e/v1/orders',
        '//evil.test/v1/orders',
        '/v1/orders/%2e%2e/products',
        `/${'x'.repeat(9_000)}`,
      )
      .filter((text) => text !== path)
      .map((text) => text.replaceAll(/\{\w+\}/g, 'x')),
    fc.webPath(),
  );
}

function callersOf({ security }: ContractOperation): fc.Arbitrary<{ kind: string; share: number }> {
  const scope = security.scopes[0];
  const meant =
    scope === undefined
      ? ['customer', 'customer', 'customer', 'staff all']
      : [
          `staff ${scope}`,
          'staff all',
          `machine ${scope}`,
          'machine all',
          ...(security.access === 'optional' ? ['customer', 'anonymous'] : []),
        ];
  const kinds = [
    'anonymous',
    'customer',
    'broken',
    ...[...staffScopes, 'all'].flatMap((each) => [`staff ${each}`, `machine ${each}`]),
  ];
  return fc.record({ kind: often(5, fc.constantFrom(...meant), fc.constantFrom(...kinds)), share });
}
