// The published OpenAPI document: the contracts to which the pipelines forward, with the limits of each operation.
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleDocument, type Node, nodeOf, outlineOperations, readDocument } from '@shop/shared/contract';
import type { GatewayConfig } from '../../../gateway/src/entry/gateway-config.ts';
import type { ApiLimit, OperationLimit } from '../../../gateway/src/limits/limit-config.ts';
import { withProblemExamples } from '../problems/problem-examples.ts';
import { joinContracts, type ServiceContract } from './join-contracts.ts';
import { openResponses } from './open-responses.ts';

const frame = fileURLToPath(new URL('shop.openapi.yaml', import.meta.url));

/**
 * The public OpenAPI document.
 * @param config the configuration in force. Only contracts that a pipeline forwards to an upstream are published.
 * @param folder contracts are named relative to it
 * @param options `limits`: whether the description of each operation states its limit; `closed`: whether responses
 *   refuse further members, as the services' own documents do
 */
export function publishedDocument(
  config: Pick<GatewayConfig, 'pipelines'>,
  folder: string,
  { limits = true, closed = false }: { readonly limits?: boolean; readonly closed?: boolean } = {},
): Node {
  const contracts = Object.values(config.pipelines).flatMap(({ policies }): ServiceContract[] => {
    const { contract, limit, forward } = apiAction(policies);
    if (typeof contract !== 'string' || forward === undefined) return [];
    const file = isAbsolute(contract) ? contract : join(folder, contract);
    const document = withProblemExamples(readDocument(file));
    const access = new Map(
      outlineOperations(document).map(({ operationId, security }) => [operationId, security.access]),
    );
    return [
      {
        name: basename(dirname(file)),
        document,
        limitOf: (id) => (limits ? limitText(limit as ApiLimit, id, access.get(id) === 'required') : undefined),
      },
    ];
  });
  const joined = joinContracts(withProblemExamples(bundleDocument(frame)), contracts);
  return closed ? joined : openResponses(joined);
}

/** The action of the policy `api` in a pipeline; an empty node without it. */
function apiAction(policies: GatewayConfig['pipelines'][string]['policies']): Node {
  const steps = policies.map((policy) => policy.api).find((value) => value !== undefined);
  return nodeOf(nodeOf(Array.isArray(steps) ? steps[0] : steps).action);
}

/** Each bound of an operation beside its rate, after "At most …". */
const boundTexts: Readonly<Record<Exclude<keyof OperationLimit, 'rate'>, string>> = {
  failuresPerEmailAndAddress: 'refused attempts a minute for one e-mail address from one client address',
  failuresPerEmail: 'refused attempts a minute for one e-mail address',
  attemptsPerEmailAndAddress: 'attempts a minute for one e-mail address from one client address',
  attemptsPerEmail: 'attempts a minute for one e-mail address',
  conflictsPerCaller: 'conflicts (409) a minute',
  forbiddenPerAccount: 'refusals with 403 a minute for one account',
};

/** @param needsToken whether the gateway requires a token; only then does it know the account */
function limitText({ rate, operations }: ApiLimit, operationId: string, needsToken: boolean): string {
  const own: Partial<OperationLimit> = operations?.[operationId] ?? {};
  const { steady, seconds, reserve, reserveSeconds, accountsPerAddress } = own.rate ?? rate;
  const more = reserve === undefined ? '' : `, and ${reserve} more within ${period(reserveSeconds ?? seconds)}`;
  const callers = needsToken ? 'each account or, without one, each address' : 'each address';
  const bounds = Object.entries(boundTexts).flatMap(([name, text]) => {
    const bound = own[name as keyof typeof boundTexts];
    return bound === undefined ? [] : [`At most ${bound} ${text}.`];
  });
  if (needsToken && accountsPerAddress !== undefined)
    bounds.unshift(
      `At most ${accountsPerAddress * steady} requests within ${period(seconds)} for all accounts of one address.`,
    );
  return [`Limit: ${steady} requests within ${period(seconds)}${more}, for ${callers}.`, ...bounds].join(' ');
}

function period(seconds: number): string {
  if (seconds === 1) return 'a second';
  if (seconds === 60) return 'a minute';
  return seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} seconds`;
}
