// Compares two versions of an OpenAPI document: what requests it accepts, and what responses it promises.
import { isDeepStrictEqual } from 'node:util';
import { dereference, isNode, methods, type Node, toNode } from '@shop/shared/contract';
import { type BreakingChange, changeAt, componentAt, type Place, within } from './breaking-change.ts';
import { SchemaComparison } from './compare-schemas.ts';
import { listOf } from './effective-schema.ts';

/** @param kind what the operations are, such as "operation" or "internal operation of orders" */
export function compareOpenApi(before: Node, after: Node, kind: string): BreakingChange[] {
  return new OpenApiComparison(before, after).run(kind);
}

class OpenApiComparison {
  readonly #before: Node;
  readonly #after: Node;
  readonly #changes: BreakingChange[] = [];
  readonly #schemas: SchemaComparison;
  /** Responses, headers and parameters that were compared, as they are components of several operations. */
  readonly #seen = new Set<string>();

  constructor(before: Node, after: Node) {
    this.#before = before;
    this.#after = after;
    this.#schemas = new SchemaComparison({ before, after });
  }

  run(kind: string): BreakingChange[] {
    for (const [path, item] of Object.entries(toNode(this.#before.paths))) {
      const next = toNode(toNode(this.#after.paths)[path]);
      for (const method of methods) {
        const operation = toNode(item)[method];
        if (isNode(operation)) this.#operation(path, method, [toNode(item), next], kind);
      }
    }
    this.#securitySchemes();
    this.#servers();
    return [...this.#changes, ...this.#schemas.changes];
  }

  #report(place: Place, change: string): void {
    this.#changes.push(changeAt(place, change));
  }

  #operation(path: string, method: string, [oldItem, nextItem]: readonly [Node, Node], kind: string): void {
    const old = toNode(oldItem[method]);
    const next = nextItem[method];
    const subject = String(old.operationId);
    const place: Place = { subject, words: `${kind} ${method.toUpperCase()} ${path}, ${subject}` };
    if (!isNode(next)) {
      this.#report(place, 'was removed');
      return;
    }
    if (next.operationId !== old.operationId) this.#report(place, `its operationId is ${String(next.operationId)} now`);
    this.#security(old, next, place);
    this.#parameters(
      [...listOf(oldItem.parameters), ...listOf(old.parameters)],
      [...listOf(nextItem.parameters), ...listOf(next.parameters)],
      place,
    );
    this.#requestBody(old.requestBody, next.requestBody, within(place, 'body'));
    this.#responses(toNode(old.responses), toNode(next.responses), place);
  }

  /** Every credential that was sufficient must still be. */
  #security(old: Node, next: Node, place: Place): void {
    const permitted = alternativesOf(next.security ?? this.#after.security);
    for (const alternative of alternativesOf(old.security ?? this.#before.security)) {
      const sufficient = permitted.some((each) =>
        Object.entries(each).every(([scheme, scopes]) => {
          const held = alternative[scheme];
          return held !== undefined && listOf(scopes).every((scope) => listOf(held).includes(scope));
        }),
      );
      if (!sufficient)
        this.#report(
          place,
          `a request with ${JSON.stringify(alternative)} is no longer permitted: security is ${JSON.stringify(permitted)}`,
        );
    }
    const machines = listOf(next['x-machine-scopes']);
    for (const scope of listOf(old['x-machine-scopes']))
      if (!machines.includes(scope)) this.#report(place, `machines with the scope ${scope} are no longer permitted`);
  }

  #securitySchemes(): void {
    const schemes = (document: Node): Node => toNode(toNode(document.components).securitySchemes);
    for (const [name, scheme] of Object.entries(schemes(this.#before))) {
      const [old, next] = [scheme, schemes(this.#after)[name]].map((each) => withoutDescription(toNode(each)));
      if (!isDeepStrictEqual(old, next))
        this.#report({ subject: name, words: `security scheme ${name}` }, 'was changed');
    }
  }

  #servers(): void {
    const urls = (document: Node): unknown[] => listOf(document.servers).map((server) => toNode(server).url);
    for (const url of urls(this.#before))
      if (!urls(this.#after).includes(url))
        this.#report({ subject: 'servers', words: `server ${String(url)}` }, 'was removed');
  }

  #parameters(old: readonly unknown[], next: readonly unknown[], place: Place): void {
    const keyOf = (document: Node, parameter: unknown): string => {
      const { name, in: where } = dereference(document, parameter);
      return `${String(where)} parameter ${String(name)}`;
    };
    const after = new Map(next.map((parameter) => [keyOf(this.#after, parameter), parameter]));
    const known = new Set(old.map((parameter) => keyOf(this.#before, parameter)));
    for (const parameter of old) {
      const name = keyOf(this.#before, parameter);
      const same = after.get(name);
      if (same === undefined) this.#report(within(place, name), 'was removed');
      else this.#parameter(parameter, same, within(place, name));
    }
    for (const [name, parameter] of after)
      if (!known.has(name) && dereference(this.#after, parameter).required === true)
        this.#report(within(place, name), 'is new and required');
  }

  #parameter(before: unknown, after: unknown, origin: Place): void {
    const place = componentAt(before, after, origin, 'parameter');
    if (place !== origin && !this.#first(`parameter ${place.subject}`)) return;
    const [old, next] = [dereference(this.#before, before), dereference(this.#after, after)];
    if (next.required === true && old.required !== true) this.#report(place, 'is required now');
    for (const keyword of ['style', 'explode', 'allowReserved', 'content', 'x-dotted'])
      if (!isDeepStrictEqual(old[keyword], next[keyword])) this.#report(place, `${keyword} was changed`);
    this.#schemas.compare(old.schema, next.schema, 'accepted', place);
  }

  #requestBody(before: unknown, after: unknown, place: Place): void {
    const [old, next] = [dereference(this.#before, before), dereference(this.#after, after)];
    if (before !== undefined && after === undefined) {
      this.#report(place, 'was removed');
      return;
    }
    if (next.required === true && old.required !== true) this.#report(place, 'is required now');
    if (before === undefined) return;
    const bytes = (body: Node): number => Number(body['x-max-bytes'] ?? Number.POSITIVE_INFINITY);
    if (bytes(next) < bytes(old))
      this.#report(place, `at most ${bytes(next)} bytes are accepted, and were ${bytes(old)}`);
    this.#content(old, next, 'accepted', place);
  }

  #responses(old: Node, next: Node, place: Place): void {
    for (const [status, response] of Object.entries(old)) {
      const at = within(place, `response ${status}`);
      if (status in next) this.#response(response, next[status], at);
      else this.#report(at, 'was removed');
    }
    // Clients treat an unknown error like the first of its class (RFC 9110, section 15). They do so with no success.
    for (const status of Object.keys(next))
      if (!(status in old) && /^[123]/.test(status))
        this.#report(within(place, `response ${status}`), 'is a new success');
  }

  #response(before: unknown, after: unknown, origin: Place): void {
    const place = componentAt(before, after, origin, 'response');
    if (place !== origin && !this.#first(`response ${place.subject}`)) return;
    const [old, next] = [dereference(this.#before, before), dereference(this.#after, after)];
    for (const [name, header] of Object.entries(toNode(old.headers)))
      this.#header(header, toNode(next.headers)[name], within(place, `header ${name}`));
    this.#content(old, next, 'produced', place);
  }

  #header(before: unknown, after: unknown, place: Place): void {
    if (after === undefined) {
      this.#report(place, 'was removed');
      return;
    }
    const [old, next] = [dereference(this.#before, before), dereference(this.#after, after)];
    if (old.required === true && next.required !== true) this.#report(place, 'may be absent now');
    this.#schemas.compare(old.schema, next.schema, 'produced', place);
  }

  #content(old: Node, next: Node, direction: 'accepted' | 'produced', place: Place): void {
    for (const [mediaType, body] of Object.entries(toNode(old.content))) {
      const at = within(place, mediaType);
      const same = toNode(next.content)[mediaType];
      if (!isNode(same)) {
        this.#report(at, 'was removed');
        continue;
      }
      this.#schemas.compare(toNode(body).schema, same.schema, direction, at);
      const codes = problemCodesOf(same);
      for (const code of problemCodesOf(toNode(body)))
        if (!codes.includes(code)) this.#report(at, `the problem code ${code} was removed`);
    }
  }

  #first(component: string): boolean {
    const first = !this.#seen.has(component);
    this.#seen.add(component);
    return first;
  }
}

/** The codes of the examples of a problem document. */
function problemCodesOf({ example, examples }: Node): unknown[] {
  const values = [example, ...Object.values(toNode(examples)).map((each) => toNode(each).value)];
  return values.map((value) => toNode(value).code).filter((code) => code !== undefined);
}

/** No security at all is one alternative that needs no credentials. */
function alternativesOf(security: unknown): Node[] {
  const alternatives = listOf(security).filter(isNode);
  return alternatives.length === 0 ? [{}] : alternatives;
}

function withoutDescription({ description: _description, ...scheme }: Node): Node {
  return scheme;
}
