// Code in pages, highlighted on the server, and blocks of the same request in several languages.

import { escapeHtml } from '@shop/shared/runtime';
import highlight from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import { marksAsHtml } from './own-values.ts';

const languages = { bash, javascript, json, python, typescript, yaml };
for (const [name, language] of Object.entries(languages)) highlight.registerLanguage(name, language);
highlight.registerAliases('sh', { languageName: 'bash' });
highlight.registerAliases('js', { languageName: 'javascript' });
highlight.registerAliases('ts', { languageName: 'typescript' });

/** Returns highlighted HTML. A string in an unsupported language is only escaped. Own values become elements. */
export function highlighted(text: string, language = ''): string {
  if (language === 'http') return marksAsHtml(highlightedMessage(text));
  const known = highlight.getLanguage(language) !== undefined;
  return marksAsHtml(known ? highlight.highlight(text, { language }).value : escapeHtml(text));
}

/** Returns the first line and the fields of an HTTP message, and its body as JSON. */
function highlightedMessage(text: string): string {
  const [head = '', ...body] = text.split('\n\n');
  const [first = '', ...fields] = head.split('\n').map(escapeHtml);
  const start = first.replace(/^[A-Z]+(?:\/[\d.]+ \d+)?/, '<span class="hljs-keyword">$&</span>');
  const lines = fields.map((field) => field.replace(/^[\w-]+(?=:)/, '<span class="hljs-attr">$&</span>'));
  const rest = body.length === 0 ? [] : ['', highlight.highlight(body.join('\n\n'), { language: 'json' }).value];
  return [start, ...lines, ...rest].join('\n');
}

/** @param label the name of the block for a screen reader */
export function codeBlock(text: string, language: string | undefined, label = 'Example'): string {
  return `<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${highlighted(text, language)}</code></pre>`;
}

export interface Tab {
  /** Equal in all blocks, so that a choice applies to all of them. */
  readonly id: 'curl' | 'javascript' | 'python' | 'client' | 'http';
  readonly title: string;
  readonly language: string;
  readonly text: string;
}

/**
 * Renders one request in several languages; the first one is visible.
 * @param name different for each block of a page
 */
export function tabbedCode(name: string, tabs: readonly Tab[]): string {
  const choices = tabs.map(
    ({ id, title }, index) =>
      `<label><input type="radio" name="${name}" value="${id}"${index === 0 ? ' checked' : ''}><span>${title}</span></label>`,
  );
  const blocks = tabs.map(
    ({ id, title, language, text }) =>
      `<pre tabindex="0" role="group" aria-label="${title}" data-tab="${id}"><code>${highlighted(text, language)}</code></pre>`,
  );
  return `<div class="tabs"><fieldset><legend class="unseen">Language</legend>${choices.join('')}</fieldset>
${blocks.join('\n')}</div>`;
}
