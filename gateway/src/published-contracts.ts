// The contracts of the operations that the gateway forwards, for the published document.
import { resolve } from 'node:path';
import { type Node, toNode } from '@shop/shared/contract';
import type { PublishedContract } from '@shop/web';
import type { GatewayConfig } from './entry/gateway-config.ts';
import type { ApiLimit } from './limits/limit-config.ts';
import { limitText } from './limits/limit-text.ts';

/**
 * Returns the contracts that a pipeline forwards to an upstream.
 * @param config the configuration in force
 * @param folder contracts are named relative to it
 */
export function publishedContracts(config: Pick<GatewayConfig, 'pipelines'>, folder: string): PublishedContract[] {
  return Object.values(config.pipelines).flatMap(({ policies }): PublishedContract[] => {
    const { contract, limit, forward } = apiAction(policies);
    if (typeof contract !== 'string' || forward === undefined) return [];
    return [
      { file: resolve(folder, contract), limitText: (id, needsToken) => limitText(limit as ApiLimit, id, needsToken) },
    ];
  });
}

/** Returns the action of the policy `api` in a pipeline; an empty node without it. */
function apiAction(policies: GatewayConfig['pipelines'][string]['policies']): Node {
  const steps = policies.map((policy) => policy.api).find((value) => value !== undefined);
  return toNode(toNode(Array.isArray(steps) ? steps[0] : steps).action);
}
