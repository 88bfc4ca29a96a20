// Every regular expression of the product: literals and `RegExp` calls in its programs, and `pattern` in its schemas.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Node, toNode } from '@shop/shared/contract';
import { parseSync } from '@swc/core';
import { parseAllDocuments } from 'yaml';

export interface FoundPattern {
  /** The files that contain the pattern. */
  readonly files: string[];
  readonly source: string;
  readonly flags: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
// The programs in the folders `test` and `testing` run in tests only.
const programs = /^(?:shared|services|gateway|client|cli|deploy\/setup)\/(?!.*\btest(?:ing)?\/).*\.(?:ts|js)$/;
const contracts = /^(?:services|gateway|shared)\/(?!.*\btest\/).*(?:api|contracts\/[a-z]+)\.yaml$/;

/**
 * Returns each distinct pattern once.
 * @throws Error for a pattern that is only known at run time
 */
export function findPatterns(): FoundPattern[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
  const found = new Map<string, FoundPattern>();
  const add = (file: string, source: string, flags: string): void => {
    const key = `/${source}/${flags}`;
    const known = found.get(key);
    if (known === undefined) found.set(key, { files: [file], source, flags });
    else if (!known.files.includes(file)) known.files.push(file);
  };
  for (const file of files.toString().trim().split('\n')) {
    const read = (): string => readFileSync(join(root, file), 'utf8');
    if (programs.test(file)) inProgram(read(), file, (source, flags) => add(file, source, flags));
    // A schema's pattern is compiled with the flag u.
    else if (contracts.test(file))
      for (const document of parseAllDocuments(read())) inSchemas(document.toJS(), (source) => add(file, source, 'u'));
  }
  return [...found.values()];
}

function inProgram(text: string, file: string, add: (source: string, flags: string) => void): void {
  const module: unknown = parseSync(text, { syntax: 'typescript', target: 'esnext' });
  const constants = new Map<string, Node>();
  for (const node of nodesIn(module)) {
    const { type, id, init } = node;
    if (type === 'VariableDeclarator' && init) constants.set(String(toNode(id).value), toNode(init));
  }
  for (const node of nodesIn(module)) {
    const { type, callee } = node;
    if (type === 'RegExpLiteral') add(String(node.pattern), String(node.flags));
    else if ((type === 'NewExpression' || type === 'CallExpression') && toNode(callee).value === 'RegExp') {
      const [source, flags] = listOf(node.arguments).map(({ expression }) => textOf(toNode(expression), constants));
      if (source === undefined) throw new Error(`${file} makes a pattern of what is not known before it runs`);
      add(source, flags ?? '');
    } else if (type === 'KeyValueProperty' && toNode(node.key).value === 'pattern') {
      const source = textOf(toNode(node.value), constants);
      if (source !== undefined) add(source, 'u');
    }
  }
}

/** Returns the text of an expression if it is the same in every run; undefined if it may differ. */
function textOf(node: Node, constants: ReadonlyMap<string, Node>): string | undefined {
  if (node.type === 'StringLiteral') return String(node.value);
  if (node.type === 'Identifier') {
    const constant = constants.get(String(node.value));
    return constant === undefined ? undefined : textOf(constant, constants);
  }
  const isRaw = node.type === 'TaggedTemplateExpression' && toNode(toNode(node.tag).property).value === 'raw';
  if (!isRaw && node.type !== 'TemplateLiteral') return undefined;
  const { quasis, expressions } = isRaw ? toNode(node.template) : node;
  const parts = listOf(expressions).map((expression) => textOf(expression, constants));
  if (parts.includes(undefined)) return undefined;
  return listOf(quasis)
    .map(({ raw, cooked }, index) => `${isRaw ? raw : cooked}${parts[index] ?? ''}`)
    .join('');
}

function inSchemas(value: unknown, add: (source: string) => void): void {
  for (const { pattern } of nodesIn(value)) if (typeof pattern === 'string') add(pattern);
}

/** Yields every object in a tree. */
function* nodesIn(value: unknown): Generator<Node> {
  if (Array.isArray(value)) for (const item of value) yield* nodesIn(item);
  else if (typeof value === 'object' && value !== null) {
    yield value as Node;
    for (const member of Object.values(value)) yield* nodesIn(member);
  }
}

function listOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value : [];
}
