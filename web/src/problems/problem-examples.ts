// Adds an example to every documented problem response.
import { type Node, toNode } from '@shop/shared/contract';
import { Problem, type ProblemCode, problemDocument, problemMediaType, problems } from '@shop/shared/problem';
import { textOf } from '../yaml-document.ts';
import { exampleMembers } from './example-members.ts';
import { problemTexts } from './problem-texts.ts';

const exampleId = '01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c70';

/**
 * Returns a copy of the document with examples in each problem response of its `components.responses`: one for each
 * problem code in backquotes in the description, or for the code that the response is named after (`NotFound` for
 * `not-found`).
 */
export function withProblemExamples(document: Node): Node {
  const components = toNode(document.components);
  const responses = Object.entries(toNode(components.responses)).map(([name, value]) => {
    const response = toNode(value);
    const content = toNode(response.content);
    const body = toNode(content[problemMediaType]);
    const codes = listCodes(name, textOf(response.description));
    if (!(problemMediaType in content) || 'example' in body || 'examples' in body || codes.length === 0)
      return [name, response];
    const examples = Object.fromEntries(codes.map((code) => [code, { value: findExample(code) }]));
    return [name, { ...response, content: { ...content, [problemMediaType]: { ...body, examples } } }];
  });
  return { ...document, components: { ...components, responses: Object.fromEntries(responses) } };
}

/** Returns an example of a problem document with this code. */
export function findExample(code: ProblemCode): Record<string, unknown> {
  return problemDocument(new Problem(code, problemTexts[code].example, exampleMembers[code]), exampleId);
}

function listCodes(name: string, description: string): ProblemCode[] {
  const named = name.replaceAll(/(?<!^)[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
  const quoted = [...description.matchAll(/`([a-z-]+)`/g)].map(([, code = '']) => code);
  const codes = quoted.filter(isCode);
  return codes.length === 0 && isCode(named) ? [named] : [...new Set(codes)];
}

export function isCode(name: string): name is ProblemCode {
  return Object.hasOwn(problems, name);
}
