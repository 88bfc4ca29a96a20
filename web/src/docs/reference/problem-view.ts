// Renders the problems of an operation: specific ones with their meaning, and those of every operation in a collapsed
// section.
import type { Node } from '@shop/shared/contract';
import { toNode } from '@shop/shared/contract';
import { problems } from '@shop/shared/problem';
import { escapeHtml } from '@shop/shared/runtime';
import { isCode } from '../../problems/problem-examples.ts';
import { textOf } from '../../yaml-document.ts';
import { codeBlock } from '../code-block.ts';
import { inlineMarkdown } from '../guide.ts';
import type { OperationView, ResponseView } from './operation-view.ts';

/** Statuses with the same meaning everywhere. */
const everywhere: ReadonlySet<string> = new Set(['406', '413', '415', '429', '500', '502', '503', '504', 'default']);

/** Renders the section about problems. */
export function problemsHtml({ responses }: OperationView): string {
  const refusals = responses.filter(isRefusal);
  const own = refusals.filter(({ status }) => !everywhere.has(status));
  const common = refusals.filter(({ status }) => everywhere.has(status));
  return `<section>
<h2 id="problems">Problems</h2>
${own.map(statusHtml).join('\n')}
<details class="status"><summary>Problems of every operation</summary>
${common.map(statusHtml).join('\n')}
</details>
</section>`;
}

/** Returns the problem documents of an operation as examples, below a fold. */
export function problemExamplesHtml({ responses }: OperationView): string {
  const blocks = responses
    .filter((response) => isRefusal(response) && !everywhere.has(response.status))
    .flatMap(({ body }) => body?.examples ?? [])
    .map(({ value }) => {
      const { code, status } = toNode(value);
      return `<details><summary>${Number(status)} <code>${escapeHtml(textOf(code))}</code></summary>
${codeBlock(JSON.stringify(value, null, 2), 'json', `Example of ${textOf(code)}`)}</details>`;
    });
  return blocks.length === 0 ? '' : `<h3>Example problems</h3>\n${blocks.join('\n')}`;
}

function isRefusal({ status }: ResponseView): boolean {
  return status === 'default' || Number(status) >= 400;
}

function statusHtml({ status, description, body }: ResponseView): string {
  const codes = [...new Set((body?.examples ?? []).map(({ value }) => textOf(toNode(value).code)))].filter(isCode);
  const items = codes.map((code) => {
    return `<li><a href="/problems/${code}"><code>${code}</code></a> ${escapeHtml(problems[code].title)}</li>`;
  });
  return `<div class="status"><h3>${status === 'default' ? 'Others' : status}</h3>
<div>${inlineMarkdown(description)}${items.length === 0 ? '' : `<ul class="codes plain">${items.join('')}</ul>`}</div></div>`;
}

/** Returns the codes of an operation, for the search. */
export function listCodes({ responses }: OperationView): string[] {
  return responses.flatMap(({ body }) => (body?.examples ?? []).map(({ value }) => textOf(toNode(value as Node).code)));
}
