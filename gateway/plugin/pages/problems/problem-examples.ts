// Gives every documented refusal an example, so that nobody has to provoke one to see what it looks like.
import {
  type Node,
  nodeOf,
  Problem,
  type ProblemCode,
  problemDocument,
  problemMediaType,
  problems,
} from '@shop/shared/protocol';
import { textOf } from '../docs/document.ts';
import { problemTexts } from './problem-texts.ts';

const exampleId = '01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c70';

/**
 * The document with examples in those of its `components.responses` that are problem documents: one for each problem code
 * that the description sets in backquotes, or that the response is named after (`NotFound` for `not-found`).
 */
export function withProblemExamples(document: Node): Node {
  const components = nodeOf(document.components);
  const responses = Object.entries(nodeOf(components.responses)).map(([name, value]) => {
    const response = nodeOf(value);
    const content = nodeOf(response.content);
    const body = nodeOf(content[problemMediaType]);
    const codes = codesOf(name, textOf(response.description));
    if (!(problemMediaType in content) || 'example' in body || 'examples' in body || codes.length === 0)
      return [name, response];
    const examples = Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }]));
    return [name, { ...response, content: { ...content, [problemMediaType]: { ...body, examples } } }];
  });
  return { ...document, components: { ...components, responses: Object.fromEntries(responses) } };
}

/** A problem document of this code, as the gateway's page about it shows it. */
export function exampleOf(code: ProblemCode): Record<string, unknown> {
  return problemDocument(new Problem(code, problemTexts[code].example), exampleId);
}

function codesOf(name: string, description: string): ProblemCode[] {
  const named = name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  const quoted = [...description.matchAll(/`([a-z-]+)`/g)].map(([, code = '']) => code);
  const codes = quoted.filter(isCode);
  return codes.length === 0 && isCode(named) ? [named] : [...new Set(codes)];
}

export function isCode(name: string): name is ProblemCode {
  return Object.hasOwn(problems, name);
}
