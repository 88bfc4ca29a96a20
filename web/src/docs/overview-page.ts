// The first page of the documentation, and the page of all operations.
import { escapeHtml } from '@shop/shared/runtime';
import type { Chapter } from './chapters.ts';
import { tabbedCode } from './code-block.ts';
import { inlineMarkdown } from './guide.ts';
import { methodHtml, pathHtml } from './reference/operation-page.ts';
import type { OperationView } from './reference/operation-view.ts';
import { toSnippets } from './reference/snippets.ts';

interface Tag {
  readonly tag: string;
  readonly description: string;
  readonly operations: readonly OperationView[];
}

const firstRequest = {
  method: 'GET',
  path: '/v1/products',
  pathValues: {},
  query: { limit: 2 },
  secured: false,
  byAccount: true,
  keyed: false,
  takesBody: false,
  answers: true,
  streams: false,
} as const;

const starts = [
  ['/docs/getting-started', 'Getting started', 'From an account to a cancelled order in seven requests.'],
  ['/docs/reference', 'Reference', 'Every operation, with code to copy and a form to try it.'],
  ['/docs/filtering', 'Filtering', 'How to find products and orders: conditions, words, sorts and facets.'],
  ['/docs/errors', 'Errors', 'What a refusal says, and when to send a request again.'],
  ['/docs/events', 'Events', 'What the shop reports to other systems.'],
  ['/docs/deploying', 'Operating', 'Deploy the shop, back it up, watch it, and let it grow.'],
] as const;

/** Returns HTML of the element `main` of `/docs`. */
export function overviewHtml(chapters: readonly Chapter[], services: readonly string[]): string {
  const cards = starts.map(([address, title, text]) => {
    return `<li><a href="${address}"><strong>${title}</strong> <span>${text}</span></a></li>`;
  });
  const lists = chapters.map(({ title, guides }) => {
    const links = guides.map(({ address, short }) => `<li><a href="${address}">${escapeHtml(short)}</a></li>`);
    return `<h2 id="${anchor(title)}">${escapeHtml(title)}</h2>\n<ul class="columns">${links.join('\n')}</ul>`;
  });
  const events = services.map((service) => {
    return `<li><a href="/docs/asyncapi/${service}.json" download>AsyncAPI document of ${service}</a></li>`;
  });
  return `<main id="content" class="guide">
<article>
<h1>Shop API</h1>
<p class="lead">Accounts, orders and products of an online shop, as JSON over HTTP.</p>
<ul class="cards">${cards.join('\n')}</ul>
<h2 id="first-request">The first request</h2>
<p>It needs no log-in.</p>
${tabbedCode('language', toSnippets(firstRequest))}
${lists.join('\n')}
<h2 id="downloads">Downloads</h2>
<ul class="columns">
<li><a href="/v1/openapi.json" download>OpenAPI document</a></li>
${events.join('\n')}
<li><a href="/llms.txt">llms.txt for language models</a></li>
</ul>
</article>
</main>`;
}

/** Returns HTML of the element `main` of the page of all operations. */
export function referenceHtml(tags: readonly Tag[]): string {
  const groups = tags.map(({ tag, description, operations }) => {
    const rows = operations.map(({ address, summary, method, path }) => {
      return `<li><a href="${address}">${escapeHtml(summary)}</a> <span class="target">${methodHtml(method)} <code>${pathHtml(path)}</code></span></li>`;
    });
    return `<h2 id="${anchor(tag)}">${escapeHtml(tag)}</h2>\n${inlineMarkdown(description)}\n<ul class="operations">${rows.join('\n')}</ul>`;
  });
  return `<main id="content" class="guide">
<article>
<h1>Reference</h1>
<p>Each operation has a page with its parameters, bodies, responses and problems, code in four languages, and a form to try it. The form keeps
your access token until you close the tab, and an id that you type once is part of every example.</p>
<p>Everything here is also in the <a href="/v1/openapi.json" download>OpenAPI document</a>.</p>
${groups.join('\n')}
</article>
</main>`;
}

function anchor(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}
