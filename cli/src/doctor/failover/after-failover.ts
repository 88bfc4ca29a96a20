// Compares the services after a failover of a database that may have lost its last commits, and repairs what is safe.
import { Problem } from '@shop/shared/problem';
import { operatorCommand } from '@shop/shared/runtime';
import { errorMessage } from '../../output/error-message.ts';
import type { OpenShop } from '../../shop/open-shop.ts';
import { type Finding, failed, ok } from '../finding.ts';
import type { Loss } from './loss.ts';
import { findLostCommits } from './lost-commits.ts';
import { findLostEffects } from './lost-effects.ts';
import { findLostStock } from './lost-stock.ts';
import { withServers } from './servers.ts';

export interface FailoverOptions {
  /** The beginning of the time that is compared (RFC 3339). */
  readonly since: string;
  /** Whether losses are repaired where this is safe. */
  readonly repair: boolean;
}

/**
 * Each loss is one finding. A repaired one is `ok`. The stock is repaired before the events are compared, because events
 * about an order are handled only when its reservation exists. A failure after a repair is a finding, because another
 * run would not find what was repaired.
 */
export function examineAfterFailover(shop: OpenShop, { since, repair }: FailoverOptions): Promise<Finding[]> {
  return withServers(shop, async (servers) => {
    const findings: Finding[] = [];
    const repairedOrders = new Set<string>();
    const report = async (losses: readonly Loss[]): Promise<void> => {
      for (const loss of losses) findings.push(repair ? await repaired(loss, repairedOrders) : toFinding(loss));
    };
    const stock = await findLostStock(shop, since);
    const commits = await findLostCommits(servers, since);
    const known = new Set(stock.map(keyOf));
    await report([...stock, ...commits.filter((loss) => !known.has(keyOf(loss)))]);
    try {
      const effects = await findLostEffects(servers, since, repairedOrders);
      await report(effects.losses);
      findings.push(...effects.undecided);
    } catch (error) {
      if (findings.length === 0) throw error;
      const remedy = `run ${operatorCommand('shop', 'doctor --after-failover')} again`;
      findings.push(failed('failover', `the events could not be compared: ${errorMessage(error)}`, remedy));
    }
    return findings.length === 0 ? [ok('failover', `all services agree since ${since}`)] : findings;
  });
}

/** The same loss may be found in the stock and in the events. */
function keyOf({ check, orderId }: Loss): string {
  return `${check} ${orderId}`;
}

function toFinding({ repair: _repair, check, detail, remedy, ...subject }: Loss): Finding {
  return { ...failed(check, detail, remedy), ...subject };
}

/** @param orders gets the orders that were repaired */
async function repaired(loss: Loss, orders: Set<string>): Promise<Finding> {
  if (loss.repair === undefined) return toFinding(loss);
  const { check, detail, remedy, repair, ...subject } = loss;
  const outcome = await repair().catch((error: unknown) => ({
    refused: error instanceof Problem ? error.message : errorMessage(error),
  }));
  if ('done' in outcome) {
    for (const orderId of [subject.orderId, outcome.orderId]) if (orderId !== undefined) orders.add(orderId);
    return { ...ok(check, `${detail}: ${outcome.done}`), ...subject };
  }
  return { ...failed(check, `${detail}: ${outcome.refused}`, remedy), ...subject };
}
