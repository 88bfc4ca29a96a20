// Reads OpenAPI and AsyncAPI documents. A document may refer to components of other files, such as
// shared/contracts/common.yaml.
import { readFileSync } from 'node:fs';
import { dirname, resolve as resolvePath } from 'node:path';
import { fileURLToPath } from 'node:url';
import { load } from 'js-yaml';
import { isNode, type Node, referenceTokens, toNode } from './openapi-document.ts';

/**
 * Parses YAML 1.2 (core schema). js-yaml needs a third of the time of `yaml`, with which the command line edits
 * documents.
 * @throws Error that names the line of a syntax error
 */
export function parseYaml(text: string): unknown {
  return load(text);
}

/** Reads a YAML file without checking its content. @throws as `parseYaml` and `readFileSync` do */
export function readYaml(file: string): unknown {
  return parseYaml(readFileSync(file, 'utf8'));
}

/**
 * Returns a document in which every reference is local. A component of another file is copied under its own name, with
 * all components that it refers to.
 * @throws Error when a reference has no target, or two different components have one name
 */
export function bundleDocument(file: URL | string): Node {
  const path = file instanceof URL ? fileURLToPath(file) : resolvePath(file);
  const bundle = new Bundle(path);
  return bundle.document;
}

/** @throws Error when the file is not an OpenAPI document, and the errors of `bundleDocument` */
export function readDocument(file: URL | string): Node {
  const document = bundleDocument(file);
  if (!isNode(document.paths)) throw new Error(`${file} is not an OpenAPI document`);
  return document;
}

/** A document while the components of other files are copied into it. */
class Bundle {
  readonly document: Node;
  readonly #root: string;
  readonly #files = new Map<string, Node>();
  readonly #components: Record<string, Node> = {};
  /** Component of this document → the file that contains it. */
  readonly #origins = new Map<string, string>();

  constructor(root: string) {
    this.#root = root;
    const { components, ...rest } = this.#read(root);
    for (const [kind, named] of Object.entries(toNode(components)))
      for (const name of Object.keys(toNode(named))) this.#origins.set(`${kind}/${name}`, root);
    for (const [kind, named] of Object.entries(toNode(components))) {
      const local = this.#localize(toNode(named), root) as Node;
      this.#components[kind] = { ...local, ...this.#components[kind] };
    }
    const localized = this.#localize(rest, root) as Node;
    this.document = { ...localized, components: this.#components };
  }

  #read(path: string): Node {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const content = readYaml(path);
    if (!isNode(content)) throw new Error(`${path} is not a document`);
    this.#files.set(path, content);
    return content;
  }

  /** Returns a copy of a value from a file, with local references. */
  #localize(value: unknown, file: string): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#localize(item, file));
    if (!isNode(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        name === '$ref' && typeof member === 'string'
          ? this.#localReference(member, file)
          : this.#localize(member, file),
      ]),
    );
  }

  #localReference(reference: string, file: string): string {
    const [path = '', pointer = ''] = reference.split('#');
    const source = path === '' ? file : resolvePath(dirname(file), path);
    if (source === this.#root) return `#${pointer}`;
    this.#copy(source, `#${pointer}`);
    return `#${pointer}`;
  }

  #copy(source: string, reference: string): void {
    const [root, kind = '', name = '', ...further] = referenceTokens(reference);
    const component = toNode(toNode(this.#read(source).components)[kind])[name];
    if (root !== 'components' || further.length > 0 || component === undefined)
      throw new Error(`${source} has no component ${reference}`);
    const origin = this.#origins.get(`${kind}/${name}`);
    if (origin === source) return;
    if (origin !== undefined) throw new Error(`${origin} and ${source} both define ${kind}/${name}`);
    // The origin is stored before the copy, because components may refer to each other.
    this.#origins.set(`${kind}/${name}`, source);
    const copy = this.#localize(component, source);
    this.#components[kind] = { ...this.#components[kind], [name]: copy };
  }
}
