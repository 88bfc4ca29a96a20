// What the shop publishes: the contracts that the gateway's pipelines route to, with the limits that they enforce.
import { basename, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleDocument, type Node, nodeOf, readDocument } from '@shop/shared/protocol';
import type { GatewayConfig } from '../../entry/gateway-config.ts';
import type { LimitAction } from '../../limits/rate-limit.ts';
import { withProblemExamples } from '../problems/problem-examples.ts';
import { joinContracts, type ServiceContract } from './join-contracts.ts';

const frame = fileURLToPath(new URL('shop.openapi.yaml', import.meta.url));

/**
 * The public OpenAPI document.
 * @param config the configuration in force: what it does not route is not published
 * @param folder contracts are named relative to it
 */
export function publishedDocument(config: Pick<GatewayConfig, 'pipelines'>, folder: string): Node {
  const parts = Object.values(config.pipelines).flatMap(({ policies }): ServiceContract[] => {
    const contract = actionOf(policies, 'operation').contract;
    const forwarded = policies.some((policy) => 'forward' in policy);
    if (typeof contract !== 'string' || !forwarded) return [];
    const file = isAbsolute(contract) ? contract : join(folder, contract);
    const limit = actionOf(policies, 'limit');
    return [
      {
        name: basename(dirname(file)),
        document: withProblemExamples(readDocument(file)),
        limitOf: (operationId) => ('rate' in limit ? limitText(limit as never, operationId) : undefined),
      },
    ];
  });
  return joinContracts(withProblemExamples(bundleDocument(frame)), parts);
}

/** The action of a policy in a pipeline; an empty one when the policy is not there or has none. */
function actionOf(policies: GatewayConfig['pipelines'][string]['policies'], name: string): Node {
  const steps = policies.map((policy) => policy[name]).find((value) => value !== undefined);
  return Array.isArray(steps) ? nodeOf(nodeOf(steps[0]).action) : {};
}

function limitText({ rate, operations }: LimitAction, operationId: string): string {
  const own = operations?.[operationId];
  const { steady, seconds, reserve, reserveSeconds } = own?.rate ?? rate;
  const more = reserve === undefined ? '' : `, and ${reserve} more within ${period(reserveSeconds ?? seconds)}`;
  const tells = [
    own?.failuresPerEmailAndAddress === undefined
      ? ''
      : ` At most ${own.failuresPerEmailAndAddress} refused attempts a minute for one e-mail address from one client address.`,
    own?.failuresPerEmail === undefined
      ? ''
      : ` At most ${own.failuresPerEmail} refused attempts a minute for one e-mail address.`,
    own?.conflictsPerCaller === undefined ? '' : ` At most ${own.conflictsPerCaller} conflicts (409) a minute.`,
  ].join('');
  return `Limit: ${steady} requests within ${period(seconds)}${more}, for each account or, without one, each address.${tells}`;
}

function period(seconds: number): string {
  if (seconds === 1) return 'a second';
  return seconds === 60 ? 'a minute' : `${seconds} seconds`;
}
