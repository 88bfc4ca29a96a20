// Renders a Markdown guide as HTML, with anchors at headings, links between guides, and links that send example
// requests.
import { Marked, type Tokens } from 'marked';
import { escapeHtml } from '../layout.ts';

export interface Guide {
  readonly title: string;
  readonly html: string;
}

const markdownUnder = (base: string): Marked =>
  new Marked({
    renderer: {
      heading({ tokens, depth, text }: Tokens.Heading) {
        const id = anchorOf(text);
        return `<h${depth} id="${id}"><a href="#${id}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`;
      },
      link({ href, title, tokens }: Tokens.Link) {
        const name = title ? ` title="${escapeHtml(title)}"` : '';
        return `<a href="${escapeHtml(addressOf(href, base))}"${name}>${this.parser.parseInline(tokens)}</a>`;
      },
      table(token: Tokens.Table) {
        const cell = (tag: string) => (one: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(one.tokens)}</${tag}>`;
        const rows = token.rows.map((row) => `<tr>${row.map(cell('td')).join('')}</tr>`);
        return `<div class="wide"><table><thead><tr>${token.header.map(cell('th')).join('')}</tr></thead>
<tbody>${rows.join('\n')}</tbody></table></div>\n`;
      },
      code({ text, lang }: Tokens.Code) {
        const open = openable(text);
        const link = open === undefined ? '' : `<a class="open" href="${escapeHtml(open)}">Open it here</a>\n`;
        return (
          `<pre tabindex="0"><code${lang ? ` class="language-${escapeHtml(lang)}"` : ''}>` +
          `${escapeHtml(text)}</code></pre>\n${link}`
        );
      },
    },
  });

/**
 * @param text Markdown, whose first line is the title, `# …`
 * @param generated creates the Markdown that replaces a comment `<!-- name -->` on a line of its own
 * @param base the address of the folder of guides
 */
export function renderGuide(
  text: string,
  { generated = {}, base = '/docs' }: { generated?: Readonly<Record<string, () => string>>; base?: string } = {},
): Guide {
  const filled = text.replaceAll(/^<!-- ([a-z-]+) -->$/gm, (comment, name: string) => generated[name]?.() ?? comment);
  const title = /^# (.+)$/m.exec(filled)?.[1] ?? 'Guide';
  return { title, html: markdownUnder(base).parse(filled, { async: false }) };
}

/** Turns a link between source files, such as `filtering.md#quotes`, into the address of the page. */
function addressOf(href: string, base: string): string {
  return href.replace(/^([a-z-]+)\.md(?=#|$)/, `${base}/$1`);
}

/**
 * The target of an example request that a browser can send by a link: a public GET without placeholders, optionally
 * followed by `→ …` lines about the response.
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
