// The shell commands of README.md and what they print.
import { readFileSync } from 'node:fs';

export interface ShellBlock {
  readonly section: string;
  readonly commands: string;
  /** What the page shows as the output; undefined without a block of text before the next commands. */
  readonly output: string | undefined;
}

/** @param file the path of README.md */
export function shellBlocks(file: string): ShellBlock[] {
  const found: ShellBlock[] = [];
  let section = '';
  const parts = /^## ([^\n]+)$|^```(\w*)\n(.*?)\n```$/gms;
  for (const [, heading, language, content = ''] of readFileSync(file, 'utf8').matchAll(parts)) {
    if (heading !== undefined) section = heading;
    else if (language === 'sh') found.push({ section, commands: content, output: undefined });
    else if (language === 'text') {
      const last = found.pop();
      if (last === undefined || last.output !== undefined) throw new Error(`an output without commands: ${content}`);
      found.push({ ...last, output: content });
    }
  }
  return found;
}

/** The pattern of an output in which `…` stands for some text, or alone in its line for any lines. */
export function patternOf(output: string): RegExp {
  const lines = output.split('\n').map((line) => {
    if (line === '…') return '(?:.*\\n)*?';
    const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
    return `${parts.join('.*')}\\n`;
  });
  return new RegExp(`^${lines.join('')}$`);
}

/** An output without the lines in which npm repeats the command, and without empty lines. */
export function withoutNpmLines(output: string): string {
  return output.replaceAll(/^(?:> .*)?\n/gm, '');
}
