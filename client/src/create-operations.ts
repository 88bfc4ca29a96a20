// All functions of the operations, in their groups.
import type { Calls } from './call.ts';
import { endpoints } from './contract.ts';
import { createList } from './list.ts';
import { createOperate } from './operate.ts';
import type { Operations } from './operations.ts';

export function createOperations(call: Calls): Operations {
  const found: Record<string, object> = {};
  const create = (target: string) => {
    const endpoint = endpoints[target];
    if (endpoint?.name === undefined) return;
    const [group = '', method] = endpoint.name.split('.');
    const operation = endpoint.list ? createList(call, target, endpoint) : createOperate(call, target, endpoint);
    // A list such as `orders` is also the group of the operations on its items.
    if (method === undefined) found[group] = Object.assign(operation, found[group]);
    else found[group] = Object.assign(found[group] ?? {}, { [method]: operation });
  };
  for (const target of Object.keys(endpoints)) create(target);
  return found as unknown as Operations;
}
