// Finds the personal data of an account that the shop still stores: in all schemas and in the dead letters.
import { deadLettersPerRead, withDeadLetters } from './dead-letters.ts';
import type { OpenShop } from './open-shop.ts';
import { operators } from './operators.ts';
import { operatorEnvironment } from './processes.ts';

export interface FoundData {
  /** A schema, or `dead letters`. */
  readonly where: string;
  /** A table, or the consumer of a dead letter with its id. */
  readonly place: string;
  readonly rows: number;
}

/** @returns nothing when all is erased */
export async function findPersonalData(shop: OpenShop, accountId: string): Promise<FoundData[]> {
  const found: FoundData[] = [];
  for (const service of ['accounts', 'orders', 'notifications', 'changes'] as const) {
    const { findPersonalData: find } = await operators[service]();
    const places = await find(operatorEnvironment(shop, service), accountId);
    for (const [place, rows] of Object.entries(places)) found.push({ where: service, place, rows });
  }
  const letters = await withDeadLetters(shop, (store) => store.list(undefined, deadLettersPerRead));
  for (const { consumer, id, content } of letters) {
    if (content.includes(accountId)) {
      found.push({ where: 'dead letters', place: `${consumer} ${id}`, rows: 1 });
    }
  }
  return found;
}
