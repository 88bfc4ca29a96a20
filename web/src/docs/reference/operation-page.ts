// Renders the page of one operation: its description, its code samples, a form to try it, and example responses.
import type { Node, Security } from '@shop/shared/contract';
import { escapeHtml } from '@shop/shared/runtime';
import { codeBlock, tabbedCode } from '../code-block.ts';
import { inlineMarkdown } from '../guide.ts';
import { exampleRequest } from './example-request.ts';
import type { OperationView, ParameterView, ResponseView } from './operation-view.ts';
import { problemExamplesHtml, problemsHtml } from './problem-view.ts';
import { memberHtml, schemaHtml } from './schema-view.ts';
import { textOfBody, toSnippets } from './snippets.ts';
import { tryForm } from './try-form.ts';

/** Returns HTML of the element `main`. */
export function operationHtml(document: Node, operation: OperationView): string {
  const { method, path, summary, description, security, responses, deprecated } = operation;
  const request = exampleRequest(operation);
  const successes = responses.filter(({ status }) => Number(status) < 400);
  return `<main id="content" class="reference">
<div class="about">
<p class="kicker">${escapeHtml(operation.tag)}</p>
<h1>${escapeHtml(summary)}</h1>
<p class="target endpoint">${methodHtml(method)} <code>${pathHtml(path)}</code></p>
${deprecated ? '<p class="notice warning">Deprecated: it will be removed.</p>' : ''}
<p class="quiet">${callerHtml(security)}</p>
<nav class="jump" aria-label="On this page"><a href="#request">Request</a>${request.streams ? '' : ' <a href="#try-it">Try it</a>'} <a href="#responses">Responses</a> <a href="#problems">Problems</a></nav>
${inlineMarkdown(description)}
${parametersHtml(document, operation)}
${bodyHtml(document, operation)}
<section>
<h2 id="responses">Responses</h2>
${successes.map((response) => responseHtml(document, response)).join('\n')}
</section>
${problemsHtml(operation)}
</div>
<div class="code">
<h2 id="request">Request</h2>
${tabbedCode('language', toSnippets(request))}
${exampleResponsesHtml(successes)}
${request.streams ? '' : tryForm(operation)}
${problemExamplesHtml(operation)}
</div>
</main>`;
}

export function methodHtml(method: string): string {
  return `<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** Returns a path that can break after each slash. */
export function pathHtml(path: string): string {
  return escapeHtml(path).replaceAll(/(?<=.)\//g, '<wbr>/');
}

function callerHtml({ access, scopes, machineScopes }: Security): string {
  const named = (list: readonly string[]): string =>
    list.map((scope) => `<code>${escapeHtml(scope)}</code>`).join(', ');
  const machines = machineScopes.length === 0 ? '' : ` A machine needs one of the scopes ${named(machineScopes)}.`;
  if (access === 'public') return 'Anyone may call it.';
  if (access === 'optional')
    return `Anyone may call it. ${scopes.length === 0 ? 'A caller with an access token' : `The holder of ${named(scopes)}`} sees more.`;
  const text =
    scopes.length === 0 ? 'Needs an access token.' : `Needs an access token with the scope ${named(scopes)}.`;
  return `${text}${machines}`;
}

const places = [
  ['path', 'Path parameters'],
  ['query', 'Query parameters'],
  ['header', 'Header fields'],
] as const;

function parametersHtml(document: Node, { parameters }: OperationView): string {
  const sections = places.flatMap(([place, title]) => {
    const own = parameters.filter((parameter) => parameter.place === place);
    if (own.length === 0) return [];
    const items = own.map((parameter) => memberHtml(document, { ...parameter, description: withExamples(parameter) }));
    return [
      `<section>\n<h2 id="${place}">${title}</h2>\n<ul class="members plain">${items.join('\n')}</ul>\n</section>`,
    ];
  });
  return sections.join('\n');
}

function withExamples({ description, name, examples }: ParameterView): string {
  const shown = examples.flat().map((value) => `\`${name}=${String(value)}\``);
  return shown.length === 0 ? description : `${description.trim()} Example: ${shown.join(', ')}`;
}

function bodyHtml(document: Node, { body }: OperationView): string {
  if (body === undefined) return '';
  return `<section>
<h2 id="body">Body</h2>
<p><code>${escapeHtml(body.type)}</code>${body.required ? '' : ', optional'}. ${escapeHtml(body.description)}</p>
${schemaHtml(document, body.schema)}
</section>`;
}

function responseHtml(document: Node, { status, description, headers, body }: ResponseView): string {
  const fields = headers.map(({ name, description: meaning }) => {
    return `<li><code class="name">${escapeHtml(name)}</code><div class="meaning">${inlineMarkdown(meaning)}</div></li>`;
  });
  const folded = `<details><summary>Header fields</summary><ul class="members plain">${fields.join('')}</ul></details>`;
  return `<div class="status"><h3>${status}</h3>
<div>${inlineMarkdown(description)}
${headers.length === 0 ? '' : folded}
${body === undefined ? '' : schemaHtml(document, body.schema)}</div></div>`;
}

function exampleResponsesHtml(responses: readonly ResponseView[]): string {
  return responses
    .flatMap(({ status, body }) =>
      (body?.examples ?? []).map(({ title, value }, index) => {
        const label = `Response ${status}${title === '' ? '' : `: ${title}`}`;
        const block = codeBlock(textOfBody(value), typeof value === 'string' ? undefined : 'json', label);
        return index === 0
          ? `<h2 id="response-${status}">${escapeHtml(label)}</h2>\n${block}`
          : `<details><summary>${title === '' ? `Another response ${status}` : escapeHtml(label)}</summary>${block}</details>`;
      }),
    )
    .join('\n');
}
