// Opens the responses of the published document: clients that are generated from it accept members of later releases.
import { isNode, type Node, referenceTokens, toNode } from '@shop/shared/contract';
import { reachable, withReferences } from '../yaml-document.ts';

const schemas = '#/components/schemas/';

/**
 * A copy of the document whose responses permit further members. Requests stay closed, because the shop refuses members
 * that it does not know. A closed schema of both directions gets an open copy for responses, `<name>View`.
 * @throws when a schema with the name of such a copy exists
 */
export function openResponses(document: Node): Node {
  const operations = Object.values(toNode(document.paths)).flatMap((item) =>
    Object.values(toNode(item)).filter(isNode),
  );
  const produced = reachable(
    document,
    operations.map(({ responses }) => responses),
  );
  const accepted = reachable(document, [
    Object.values(toNode(document.paths)).map((item) => toNode(item).parameters),
    operations.map(({ parameters, requestBody }) => [parameters, requestBody]),
  ]);
  const copied = new Set(
    [...produced.keys()].filter((reference) => accepted.has(reference) && isClosed(document, reference)),
  );
  const rename = (reference: string): string => (copied.has(reference) ? `${reference}View` : reference);
  const open = (value: unknown): unknown => withReferences(withoutBounds(value), rename);

  const paths = mapMembers(document.paths, (item) =>
    mapMembers(item, (operation) =>
      isNode(operation) && 'responses' in operation
        ? { ...operation, responses: open(operation.responses) }
        : operation,
    ),
  );
  const components = Object.entries(toNode(document.components)).map(([kind, all]) => {
    const named = Object.entries(toNode(all)).flatMap(([name, component]): [string, unknown][] => {
      const reference = `#/components/${kind}/${name}`;
      if (!produced.has(reference)) return [[name, component]];
      return copied.has(reference)
        ? [
            [name, component],
            [nameOf(rename(reference)), open(component)],
          ]
        : [[name, open(component)]];
    });
    if (new Set(named.map(([name]) => name)).size < named.length) throw new Error(`two ${kind} have one name`);
    return [kind, Object.fromEntries(named)];
  });
  return { ...document, paths, components: Object.fromEntries(components) };
}

const nameOf = (reference: string): string => referenceTokens(reference).at(-1) ?? '';

/** Whether the schema, or one that it refers to, refuses further members. */
function isClosed(document: Node, reference: string): boolean {
  if (!reference.startsWith(schemas)) return false;
  const all = [...reachable(document, { $ref: reference }).values()];
  return all.some((schema) => JSON.stringify(withoutBounds(schema)) !== JSON.stringify(schema));
}

/** A copy without the keywords that refuse further members. */
function withoutBounds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutBounds);
  if (!isNode(value)) return value;
  const kept = Object.entries(value).filter(
    ([keyword, bound]) => !(bound === false && /^(?:additional|unevaluated)Properties$/.test(keyword)),
  );
  return Object.fromEntries(kept.map(([keyword, member]) => [keyword, withoutBounds(member)]));
}

function mapMembers(value: unknown, change: (member: unknown) => unknown): Node {
  return Object.fromEntries(Object.entries(toNode(value)).map(([name, member]) => [name, change(member)]));
}
