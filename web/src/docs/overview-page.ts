// The first page of the documentation, and the page of all operations.
import { escapeHtml } from '@shop/shared/runtime';
import { sign } from '../sign.ts';
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

/** The guides by what a reader wants to do. */
const ways = [
  {
    title: 'Build a storefront',
    text: 'Products with search and facets, accounts, and orders that cost what the customer was shown.',
    drawing: 'storefront',
    guides: ['getting-started', 'filtering', 'pagination', 'accounts', 'errors', 'idempotency'],
  },
  {
    title: 'Connect other systems',
    text: 'Payments, events, webhooks, and a feed that says what has changed since the last call.',
    drawing: 'connection',
    guides: ['taking-payments', 'stripe', 'webhooks', 'following-changes', 'events', 'migration'],
  },
  {
    title: 'Sell and ship',
    text: 'What staff sets and does: prices beyond the product, shipments, returns and invoices.',
    drawing: 'parcel',
    guides: ['staff', 'shipping-taxes-discounts', 'returns', 'invoices'],
  },
  {
    title: 'Run the shop',
    text: 'Deploy it, back it up, watch it, and let it grow. Each alert has a runbook.',
    drawing: 'server',
    guides: [
      'deploying',
      'settings',
      'command-line',
      'deploying/backups',
      'deploying/monitoring',
      'growing',
      'runbooks',
    ],
  },
] as const;

/** Returns HTML of the element `main` of `/docs`. @throws when a guide is missing */
export function overviewHtml(chapters: readonly Chapter[], tags: readonly Tag[], services: readonly string[]): string {
  const guides = new Map(chapters.flatMap((chapter) => chapter.guides).map((guide) => [guide.address, guide]));
  const linkTo = (name: string): string => {
    const guide = guides.get(`/docs/${name}`);
    if (guide === undefined) throw new Error(`The guide ${name} is missing`);
    return `<li><a href="${guide.address}">${escapeHtml(guide.short)}</a></li>`;
  };
  const cards = ways.map(({ title, text, drawing, guides: names }) => {
    return `<section class="card way">${sign(drawing)}<div>
<h2 id="${anchor(title)}">${title}</h2>
<p>${text}</p>
<ul class="plain">${names.map(linkTo).join('\n')}</ul>
</div></section>`;
  });
  const subjects = tags.map(({ tag }) => {
    return `<li><a href="/docs/reference#${anchor(tag)}">${escapeHtml(tag)}</a></li>`;
  });
  const events = services.map((service) => {
    return `<li><a href="/docs/asyncapi/${service}.json" download>AsyncAPI of ${service}</a></li>`;
  });
  return `<main id="content" class="page">
<div class="hero">
<div>
<h1>Shop API</h1>
<p class="lead">Accounts, products and orders of an online shop, as JSON over HTTP. The shop that serves this page answers the examples.</p>
<p class="buttons"><a class="button main" href="/docs/getting-started">Get started</a> <a class="button" href="/docs/reference">All operations</a></p>
</div>
<section aria-labelledby="first-request">
<h2 id="first-request" class="quiet">The first request needs no log-in</h2>
${tabbedCode('language', toSnippets(firstRequest))}
</section>
</div>
<div class="ways">
${cards.join('\n')}
</div>
<h2 id="reference">Reference</h2>
<p>Each operation has a page with code to copy and a form to try it.</p>
<ul class="subjects plain">${subjects.join('\n')}</ul>
<h2 id="downloads">Downloads</h2>
<ul class="subjects plain">
<li><a href="/v1/openapi.json" download>OpenAPI document</a></li>
${events.join('\n')}
<li><a href="/llms.txt">llms.txt for language models</a></li>
</ul>
</main>`;
}

/** Returns HTML of the element `main` of the page of all operations. */
export function referenceHtml(tags: readonly Tag[]): string {
  const groups = tags.map(({ tag, description, operations }) => {
    const rows = operations.map(({ address, summary, method, path }) => {
      return `<li><a href="${address}">${escapeHtml(summary)}</a> <span class="target">${methodHtml(method)} <code>${pathHtml(path)}</code></span></li>`;
    });
    return `<h2 id="${anchor(tag)}">${escapeHtml(tag)}</h2>\n${inlineMarkdown(description)}\n<ul class="operations plain">${rows.join('\n')}</ul>`;
  });
  return `<main id="content" class="page">
<article>
<h1>Reference</h1>
<p class="lead">Each operation has a page with its parameters, bodies, responses and problems, code in four languages, and a form to try it.</p>
<p>The form keeps your access token until you close the tab, and an id that you type once is part of every example. Everything here is also in the <a href="/v1/openapi.json" download>OpenAPI document</a>.</p>
${groups.join('\n')}
</article>
</main>`;
}

function anchor(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, '-');
}
