// Renders Markdown as HTML: anchors at headings, links between guides, highlighted code, example requests as command
// lines, and tables that fold on a narrow screen.
import { posix } from 'node:path';
import { escapeHtml } from '@shop/shared/runtime';
import { Marked, type Tokens } from 'marked';
import { codeBlock, tabbedCode } from './code-block.ts';
import { commandLines } from './guide-request.ts';

export interface Heading {
  readonly id: string;
  readonly title: string;
  readonly depth: number;
}

export interface Guide {
  readonly title: string;
  /** The Markdown with its generated parts, and with links to the Markdown of other pages. */
  readonly text: string;
  readonly html: string;
  /** The headings below the title. */
  readonly headings: readonly Heading[];
}

const titles: Readonly<Record<string, string>> = { http: 'HTTP', sh: 'Command', json: 'JSON', ts: 'TypeScript' };

/** @param page the Markdown that will be rendered */
function markdownUnder(base: string, page: string, headings: Heading[] = []): Marked {
  const commandLine = commandLines(page);
  let blocks = 0;
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const anchor = anchorOf(text);
        const before = headings.filter(({ id }) => id === anchor || id.startsWith(`${anchor}--`)).length;
        const id = before === 0 ? anchor : `${anchor}--${before + 1}`;
        headings.push({ id, title: text.replaceAll('`', ''), depth });
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, title, tokens }: Tokens.Link) {
        const name = title ? ` title="${escapeHtml(title)}"` : '';
        return `<a href="${escapeHtml(addressOf(href, base))}"${name}>${this.parser.parseInline(tokens)}</a>`;
      },
      table(token: Tokens.Table) {
        const labels = token.header.map(({ text }) => escapeHtml(text.replaceAll('`', '')));
        const head = token.header
          .map(({ tokens }) => this.parser.parseInline(tokens))
          .map((title) => (title === '' ? '<td></td>' : `<th scope="col">${title}</th>`))
          .join('');
        const rows = token.rows.map((row) => {
          const cells = row.map(
            (one, at) => `<td data-label="${labels[at]}">${this.parser.parseInline(one.tokens)}</td>`,
          );
          return `<tr>${cells.join('')}</tr>`;
        });
        return `<table class="folds"><thead><tr>${head}</tr></thead>\n<tbody>${rows.join('\n')}</tbody></table>\n`;
      },
      code({ text, lang }: Tokens.Code) {
        const open = openable(text);
        const link = open === undefined ? '' : `<a class="open" href="${escapeHtml(open)}">Open it here</a>\n`;
        const inCurl = commandLine(text, lang);
        if (inCurl === undefined) return `${codeBlock(text, lang, titles[lang ?? ''])}\n${link}`;
        blocks += 1;
        const http = { id: 'http', title: 'HTTP', language: 'http', text } as const;
        const command = { id: 'curl', title: 'curl', language: 'bash', text: inCurl } as const;
        // A complete message is to be tried. A short example shows the notation of the request.
        const tabs = lang === 'http' ? [command, http] : [http, command];
        return `${tabbedCode(`block-${blocks}`, tabs)}\n${link}`;
      },
    },
  });
}

/**
 * @param text Markdown with the title `# …` in its first line
 * @param generated creates the Markdown that replaces a comment `<!-- name -->` on a separate line
 * @param base the address of the folder of guides
 */
export function renderGuide(
  text: string,
  { generated = {}, base = '/docs' }: { generated?: Readonly<Record<string, () => string>>; base?: string } = {},
): Guide {
  const filled = text.replaceAll(/^<!-- ([a-z-]+) -->$/gm, (comment, name: string) => generated[name]?.() ?? comment);
  const title = /^# (.+)$/m.exec(filled)?.[1] ?? 'Guide';
  const headings: Heading[] = [];
  const html = markdownUnder(base, filled, headings).parse(filled, { async: false });
  const source = filled.replaceAll(/(?<=\]\()[^()\s]+(?=\))/g, (href) => addressOf(href, base, '.md'));
  return { title, text: source, html, headings: headings.filter(({ depth }) => depth > 1) };
}

/** Returns the HTML of a description in the contracts. */
export function inlineMarkdown(text: string): string {
  return markdownUnder('/docs', text).parse(text, { async: false });
}

/**
 * Turns a link between source files, such as `../growing/connections.md#pgbouncer`, into the address of the page.
 * @param base the address of the folder of the source file
 */
function addressOf(href: string, base: string, suffix = ''): string {
  const [, path, anchor = ''] = /^([a-z\d./-]+\.md)(#.*)?$/i.exec(href) ?? [];
  if (path === undefined || path.startsWith('/')) return href;
  // A README is the page of its folder. The changelog is outside the folder of the guides.
  const page = posix.join(base, path).replace(/(?:\/README)?\.md$/, '');
  return `${page === '/CHANGELOG' ? '/docs/changelog' : page}${suffix}${anchor}`;
}

/**
 * Returns the target of an example request that a browser can send by a link: a public GET without placeholders,
 * optionally followed by `→ …` lines about the response.
 */
function openable(text: string): string | undefined {
  const target = /^GET (\/v1\/products[^\n{]*?)(?:\n→[^\n]*)*$/.exec(text.trim())?.[1];
  return target === undefined ? undefined : encodeURI(target);
}

function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
}
