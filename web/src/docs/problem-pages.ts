// The pages at the `type` of every problem document, as JSON or as HTML.
import { type ProblemCode, problems } from '@shop/shared/problem';
import { escapeHtml } from '@shop/shared/runtime';
import type { Assets } from '../assets.ts';
import { pagePolicy } from '../layout.ts';
import { type FindPage, html } from '../page.ts';
import { prefersHtml } from '../prefers-html.ts';
import { findExample, isCode } from '../problems/problem-examples.ts';
import { problemTexts } from '../problems/problem-texts.ts';
import { codeBlock } from './code-block.ts';
import { docsLayout, sections } from './docs-layout.ts';
import { inlineMarkdown } from './guide.ts';

/** Creates the pages of problems. `/problems` lists all problem codes, `/problems/<code>` explains one of them. */
export function problemPages(assets: Assets): FindPage {
  const layout = docsLayout(assets);
  const codes = Object.keys(problems).filter(isCode);
  const page = (title: string, address: string, article: string): string => {
    const content = `<main id="content" class="page">\n<article>\n${article}\n</article>\n</main>`;
    return layout.page({
      title,
      address,
      section: sections.problems.address,
      content,
      styles: ['guide.css'],
      side: sideHtml(codes, address),
    });
  };
  const pages = new Map<string, { json: string; html: string }>();
  const list = codes.map((code) => ({ code, type: `/problems/${code}`, ...problems[code] }));
  pages.set('/problems', {
    json: JSON.stringify({ problems: list }),
    html: page('Problems', '/problems', listHtml(codes)),
  });
  for (const code of codes) {
    const address = `/problems/${code}`;
    pages.set(address, { json: explanation(code), html: page(problems[code].title, address, codeHtml(code)) });
  }
  return ({ path, headers: { accept } }) => {
    const found = pages.get(path);
    const headers = ['Cache-Control', 'public, max-age=60', 'Vary', 'Accept'];
    return (
      found &&
      (() =>
        prefersHtml(accept)
          ? { type: html, body: found.html, contentPolicy: pagePolicy, headers }
          : { body: found.json, headers })
    );
  };
}

function explanation(code: ProblemCode): string {
  const { when, remedy } = problemTexts[code];
  return JSON.stringify({
    code,
    type: `/problems/${code}`,
    ...problems[code],
    when,
    remedy,
    example: findExample(code),
  });
}

function codeHtml(code: ProblemCode): string {
  const { status, title } = problems[code];
  const { when, remedy } = problemTexts[code];
  return `<p class="kicker"><a href="/problems">Problems</a></p>
<h1>${escapeHtml(title)}</h1>
<p>${statusBadge(status)} <code>${code}</code></p>
<h2>When it happens</h2>
${inlineMarkdown(when)}
<h2>What to do</h2>
${inlineMarkdown(remedy)}
<h2>Example</h2>
${codeBlock(JSON.stringify(findExample(code), null, 2), 'json')}
<p><a href="/docs/errors">How to handle errors</a></p>`;
}

function statusBadge(status: number): string {
  return `<span class="badge ${status < 500 ? 'warning' : 'danger'}">${status}</span>`;
}

/** Returns the list of all problems, by status. */
function sideHtml(codes: readonly ProblemCode[], current: string): string {
  const mark = (address: string): string => (address === current ? ' aria-current="page"' : '');
  const groups = [...Map.groupBy(codes, (code) => problems[code].status)].map(([status, own]) => {
    const items = own.map((code) => `<li><a href="/problems/${code}"${mark(`/problems/${code}`)}>${code}</a></li>`);
    return `<p class="label">${status}</p>\n<ul>${items.join('')}</ul>`;
  });
  return `<ul><li><a href="/problems"${mark('/problems')}>All problems</a></li></ul>\n${groups.join('\n')}`;
}

function listHtml(codes: readonly ProblemCode[]): string {
  const rows = codes.map((code) => {
    const { status, title } = problems[code];
    return `<li>${statusBadge(status)} <a href="/problems/${code}"><code>${code}</code></a> <span>${escapeHtml(title)}</span></li>`;
  });
  return `<h1>Problems</h1>
<p class="lead">Each refusal has one of these codes. <a href="/docs/errors">Errors</a> says how to handle them.</p>
<ul class="problems plain">${rows.join('\n')}</ul>`;
}
