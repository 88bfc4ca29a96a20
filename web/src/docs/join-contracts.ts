// Joins the services' OpenAPI documents into the published document.
import { isNode, methods, type Node, referenceTokens, toNode } from '@shop/shared/contract';
import { reachable, referencesIn, textOf, withReferences } from '../yaml-document.ts';

export interface ServiceContract {
  /** The service's name. It prefixes component names that have a different meaning in another service. */
  readonly name: string;
  readonly document: Node;
  /** A sentence about the limit of an operation. */
  readonly limitOf?: (operationId: string) => string | undefined;
}

const isMethod = (member: string): boolean => methods.some((method) => method === member);

interface PublicContract extends ServiceContract {
  readonly paths: Readonly<Record<string, Node>>;
  /** Reference → component, only those that the public paths need. */
  readonly components: ReadonlyMap<string, unknown>;
}

/**
 * Returns one document of all public operations, without `x-internal` operations, and the components, tags and members
 * that only the services need.
 *
 * Deeply equal components of the same name are merged; others get the name of their service as a prefix.
 * @param base the frame: info, servers, and in `x-every-operation` the gateway's responses to every operation
 * @throws when two services define the same path or operationId, or differ in a security scheme
 */
export function joinContracts(base: Node, parts: readonly ServiceContract[]): Node {
  const { 'x-every-operation': everywhere, components: _own, ...frame } = base;
  const gateway: ServiceContract = { name: 'gateway', document: base };
  const all = [
    ...parts.map((part) => publicPart(part, publicPaths(part, toNode(everywhere)))),
    { ...gateway, paths: {}, components: reachable(base, everywhere) },
  ];
  const ambiguous = ambiguousNames(all);
  const paths: Record<string, unknown> = {};
  const components: Record<string, Record<string, unknown>> = {};
  const tags = new Map<string, unknown>();
  for (const part of all) {
    const rename = (reference: string): string =>
      ambiguous.has(reference)
        ? prefixed(reference, part.components.has(reference) ? part.name : gateway.name)
        : reference;
    for (const [path, item] of Object.entries(part.paths)) {
      if (path in paths) throw new Error(`two services define ${path}`);
      paths[path] = withoutInternalMembers(withReferences(item, rename));
    }
    for (const [reference, component] of part.components) {
      const [, kind = '', name = ''] = referenceTokens(rename(reference));
      components[kind] ??= {};
      components[kind][name] = withoutInternalMembers(withReferences(component, rename));
    }
    const used = usedTags(part.paths);
    for (const tag of Array.isArray(part.document.tags) ? part.document.tags.filter(isNode) : [])
      if (used.has(tag.name)) tags.set(textOf(tag.name), tag);
  }
  requireUniqueOperations(paths);
  return { ...frame, tags: [...tags.values()], paths, components: usedComponents(paths, components) };
}

/**
 * Returns the components that the paths use. Responses of the gateway that every operation replaces are omitted,
 * together with the components that only they refer to.
 */
function usedComponents(paths: Node, components: Readonly<Record<string, Node>>): Record<string, Node> {
  const used = reachable({ components }, paths);
  const kinds = Object.entries(components).map(([kind, all]) => {
    const kept = Object.entries(all).filter(
      ([name]) => kind === 'securitySchemes' || used.has(`#/components/${kind}/${name}`),
    );
    return [kind, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(kinds.filter(([, kept]) => Object.keys(kept).length > 0));
}

/** Members that steer the services' own reading of a request, and mean nothing to clients. */
const internalMembers: ReadonlySet<string> = new Set([
  'x-internal',
  'x-refused-by-operation',
  'x-checked-by-operation',
]);

function withoutInternalMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutInternalMembers);
  if (!isNode(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !internalMembers.has(name));
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutInternalMembers(member)]));
}

/** Returns the tags of public operations. */
function usedTags(paths: Readonly<Record<string, Node>>): Set<unknown> {
  const operations = Object.values(paths).flatMap((item) => Object.values(item).filter(isNode));
  return new Set(operations.flatMap(({ tags }) => (Array.isArray(tags) ? tags : [])));
}

/** Returns the paths without internal operations. Each has the responses and the rate limit of the gateway. */
function publicPaths({ document, limitOf }: ServiceContract, everywhere: Node): Record<string, Node> {
  const paths: Record<string, Node> = {};
  for (const [path, item] of Object.entries(toNode(document.paths))) {
    const kept = Object.entries(toNode(item)).flatMap(([member, value]): [string, unknown][] => {
      if (!isMethod(member)) return [[member, value]];
      const operation = toNode(value);
      if (operation['x-internal'] === true) return [];
      const limit = limitOf?.(textOf(operation.operationId));
      const description = [textOf(operation.description).trim(), limit ?? '']
        .filter((part) => part !== '')
        .join('\n\n');
      const responses = { ...everywhere, ...toNode(operation.responses) };
      const requestBody = withBound(operation.requestBody);
      return [
        [
          member,
          {
            ...operation,
            ...(description === '' ? {} : { description }),
            ...(requestBody === undefined ? {} : { requestBody }),
            responses,
          },
        ],
      ];
    });
    if (kept.some(([member]) => isMethod(member))) paths[path] = Object.fromEntries(kept);
  }
  return paths;
}

/** Returns the request body with its `x-max-bytes` in the description. */
function withBound(requestBody: unknown): unknown {
  const { 'x-max-bytes': bound, description, ...rest } = toNode(requestBody);
  if (bound === undefined) return requestBody;
  const sentences = [textOf(description).trim(), `At most ${bound} bytes.`].filter((sentence) => sentence !== '');
  return { ...rest, description: sentences.join(' '), 'x-max-bytes': bound };
}

function publicPart(part: ServiceContract, paths: Record<string, Node>): PublicContract {
  const components = reachable(part.document, paths);
  for (const name of securitySchemes(paths)) {
    const scheme = toNode(toNode(part.document.components).securitySchemes)[name];
    if (scheme !== undefined) components.set(`#/components/securitySchemes/${name}`, scheme);
  }
  return { ...part, paths, components };
}

function securitySchemes(paths: Readonly<Record<string, Node>>): Set<string> {
  const operations = Object.values(paths).flatMap((item) => Object.values(item).filter(isNode));
  const requirements = operations.flatMap(({ security }) => (Array.isArray(security) ? security.filter(isNode) : []));
  return new Set(requirements.flatMap((requirement) => Object.keys(requirement)));
}

/**
 * Returns the references to components that differ between the services, directly or in a component that they refer to.
 */
function ambiguousNames(parts: readonly PublicContract[]): Set<string> {
  const texts = new Map<string, string[]>();
  for (const { components } of parts) {
    for (const [reference, component] of components)
      texts.set(reference, [...(texts.get(reference) ?? []), JSON.stringify(component)]);
  }
  const ambiguous = new Set([...texts].filter(([, all]) => new Set(all).size > 1).map(([reference]) => reference));
  for (let before = -1; before !== ambiguous.size; ) {
    before = ambiguous.size;
    for (const { components } of parts) {
      for (const [reference, component] of components)
        if ((texts.get(reference)?.length ?? 0) > 1 && referencesIn(component).some((inner) => ambiguous.has(inner)))
          ambiguous.add(reference);
    }
  }
  const schemes = [...ambiguous].filter((reference) => reference.startsWith('#/components/securitySchemes/'));
  if (schemes.length > 0) throw new Error(`the services differ in ${schemes.join(', ')}`);
  return ambiguous;
}

function prefixed(reference: string, service: string): string {
  const [root, kind, name] = referenceTokens(reference);
  return `#/${root}/${kind}/${service.charAt(0).toUpperCase()}${service.slice(1)}${name}`;
}

function requireUniqueOperations(paths: Node): void {
  const ids = Object.values(paths)
    .flatMap((item) => Object.values(toNode(item)).filter(isNode))
    .flatMap(({ operationId }) => (typeof operationId === 'string' ? [operationId] : []));
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  if (twice.length > 0) throw new Error(`two operations have the id ${twice.join(', ')}`);
}
