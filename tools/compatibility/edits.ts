// Edits of contracts, for the tests of the gate. Each throws when its place does not exist.
import { isNode, type Node } from '@shop/shared/contract';
import { type Contracts, presentContracts } from './contracts.ts';

export type Path = readonly [keyof Contracts, ...(string | number)[]];
export type Edit = (contracts: Contracts) => void;

export const present = presentContracts();

/** The contracts after an edit. */
export function edited(...edits: readonly Edit[]): Contracts {
  const contracts = JSON.parse(JSON.stringify(present)) as Contracts;
  for (const edit of edits) edit(contracts);
  return contracts;
}

function valueAt(contracts: Contracts, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((node, name) => {
    const value = (node as Node | undefined)?.[name];
    if (value === undefined) throw new Error(`${path.join(' ')} does not exist`);
    return value;
  }, contracts);
}

/** Sets a member, which need not exist. */
export function set(path: Path, value: unknown): Edit {
  return (contracts) => {
    Object.assign(valueAt(contracts, path.slice(0, -1)) as object, { [path.at(-1) ?? '']: value });
  };
}

export function remove(path: Path): Edit {
  return (contracts) => {
    valueAt(contracts, path);
    const parent = valueAt(contracts, path.slice(0, -1));
    if (Array.isArray(parent)) parent.splice(Number(path.at(-1)), 1);
    else delete (parent as Record<string, unknown>)[path.at(-1) ?? ''];
  };
}

/** Gives a member another name. */
export function rename(path: Path, name: string): Edit {
  return (contracts) => {
    set([path[0], ...path.slice(1, -1), name], valueAt(contracts, path))(contracts);
    remove(path)(contracts);
  };
}

/** Adds an item to a list. */
export function add(path: Path, item: unknown): Edit {
  return (contracts) => {
    const list = valueAt(contracts, path);
    if (!Array.isArray(list)) throw new Error(`${path.join(' ')} is not a list`);
    list.push(item);
  };
}

export function reverseMembers(path: Path): Edit {
  return (contracts) => {
    const node = valueAt(contracts, path);
    if (!isNode(node)) throw new Error(`${path.join(' ')} has no members`);
    set(path, Object.fromEntries(Object.entries(node).reverse()))(contracts);
  };
}
