// Turns a guide in Markdown into HTML: headings that can be linked to, links between guides, requests that can be opened.
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
        return `<pre tabindex="0"><code${lang ? ` class="language-${escapeHtml(lang)}"` : ''}>${escapeHtml(text)}</code></pre>\n${link}`;
      },
    },
  });

/**
 * @param text Markdown; its first line is the title, `# …`
 * @param generated what takes the place of a comment `<!-- name -->` on a line of its own, in Markdown
 * @param base the address under which the guides beside it are
 */
export function renderGuide(
  text: string,
  { generated = {}, base = '/docs' }: { generated?: Readonly<Record<string, () => string>>; base?: string } = {},
): Guide {
  const filled = text.replaceAll(/^<!-- ([a-z-]+) -->$/gm, (comment, name: string) => generated[name]?.() ?? comment);
  const title = /^# (.+)$/m.exec(filled)?.[1] ?? 'Guide';
  return { title, html: markdownUnder(base).parse(filled, { async: false }) };
}

/** `filtering.md#quotes`, as it works where the sources are shown, becomes the address of the page here. */
function addressOf(href: string, base: string): string {
  return href.replace(/^([a-z-]+)\.md(?=#|$)/, `${base}/$1`);
}

/**
 * A request that a browser can send by following a link: a public GET without a gap to fill in, and at most a `→ …` about its
 * answer below it.
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
