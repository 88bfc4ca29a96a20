// Policy `problems`: the pages at the `type` of every problem document, as JSON or as HTML.
import { createHash } from 'node:crypto';
import { Problem, type ProblemCode, problems } from '@shop/shared/problem';
import { actionSchema, type Policy } from '../../entry/policy.ts';
import { type Document, sendDocument } from '../../entry/send-response.ts';
import { escapeHtml } from '../layout.ts';
import { isRead } from '../read-only.ts';
import { exampleOf, isCode } from './problem-examples.ts';
import { problemTexts } from './problem-texts.ts';

const style =
  ':root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;' +
  'max-width:42rem;margin:3rem auto;padding:0 1rem}' +
  'pre{background:#8881;padding:1rem;overflow:auto}table{display:block;overflow:auto}td{padding-right:1.5rem}';
const styleHash = createHash('sha256').update(style).digest('base64');
const contentPolicy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; frame-ancestors 'none'`;

/** `/problems` lists all problem codes, `/problems/<code>` explains one of them. */
export function problemPages(): Policy {
  const pages = new Map<string, { json: string; html: string }>();
  const codes = Object.keys(problems).filter(isCode);
  const list = codes.map((code) => ({ code, type: `/problems/${code}`, ...problems[code] }));
  pages.set('/problems', { json: JSON.stringify({ problems: list }), html: listPage(codes) });
  for (const code of codes) pages.set(`/problems/${code}`, { json: explanation(code), html: codePage(code) });
  return {
    name: 'problems',
    schema: actionSchema('problems'),
    policy: () => (request, response) => {
      const page = pages.get(request.path);
      if (page === undefined) throw new Problem('not-found', 'There is nothing at this address.');
      if (!isRead(request, response)) return;
      const wantsHtml = request.headers.accept?.includes('text/html') === true;
      const form: Document = wantsHtml
        ? { type: 'text/html; charset=utf-8', text: page.html, contentPolicy }
        : { text: page.json };
      sendDocument(request, response, {
        ...form,
        headers: ['Cache-Control', 'public, max-age=3600', 'Vary', 'Accept'],
      });
    },
  };
}

function explanation(code: ProblemCode): string {
  const { when, remedy } = problemTexts[code];
  return JSON.stringify({ code, type: `/problems/${code}`, ...problems[code], when, remedy, example: exampleOf(code) });
}

function codePage(code: ProblemCode): string {
  const { status, title } = problems[code];
  const { when, remedy } = problemTexts[code];
  return page(
    title,
    `<h1>${title}</h1>
<p><code>${code}</code>, status ${status}</p>
<h2>When it happens</h2>
<p>${inline(when)}</p>
<h2>What to do</h2>
<p>${inline(remedy)}</p>
<h2>Example</h2>
<pre>${escapeHtml(JSON.stringify(exampleOf(code), null, 2))}</pre>
<p><a href="/problems">All problems</a> · <a href="/docs/errors">How to handle errors</a></p>`,
  );
}

function listPage(codes: readonly ProblemCode[]): string {
  const rows = codes.map((code) => {
    const { status, title } = problems[code];
    return `<tr><td>${status}</td><td><a href="/problems/${code}"><code>${code}</code></a></td><td>${title}</td></tr>`;
  });
  return page('Problems', `<h1>Problems</h1>\n<table>\n${rows.join('\n')}\n</table>`);
}

function page(title: string, content: string): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;
  return (
    `<!doctype html>\n<html lang="en">\n<head>${head}<style>${style}</style></head>\n` +
    `<body>\n${content}\n</body>\n</html>\n`
  );
}

/** Escapes the text and renders backquoted parts as code. */
function inline(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}
