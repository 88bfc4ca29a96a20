// Tables for people, with colours for important words. On a narrow terminal, they are folded so that no line is too long.
// The libraries that were tried (cli-table3, columnify, table) pad the last column, or make no list of a row that is too
// wide.
import { styleText } from 'node:util';
import { Help } from 'commander';

export type Cell = string | number | null | undefined;

/** Word → colour, for cells that consist of that word. */
export type Colours = Readonly<Record<string, 'green' | 'yellow' | 'red'>>;

/** The narrowest last column into which a table is folded. */
const narrowest = 24;
const gap = '  ';
/** Its `boxWrap` wraps strings. */
const help = Object.assign(new Help(), { minWidthToWrap: 0 });

/**
 * Returns the lines of a table; the first row is the heading. A cell without a value stays empty. Colours are used on a
 * terminal only, and not where NO_COLOR is set.
 *
 * A table that is wider than the terminal gets several lines in its last column. If the remaining width is too small,
 * each row becomes a list of the headings with its values. On a pipe, each row is one line.
 * @param columns the width of the terminal; undefined for a pipe
 */
export function table(
  rows: readonly (readonly Cell[])[],
  colours: Colours = {},
  columns: number | undefined = process.stdout.columns,
): string {
  const texts = textsOf(rows);
  const [heading = [], ...others] = texts;
  const room = roomOf(texts, columns);
  const words = texts.flatMap((row) => (row.at(-1) ?? '').split(' '));
  if (widest(words) <= room) return align(texts, colours, room).join('\n');
  if (others.length === 0) return heading.join(gap);
  return others
    .map((row) => {
      const values = heading.map((name, index) => [name, row[index] ?? '']).filter(([, value]) => value !== '');
      return list(values, colours, columns);
    })
    .join('\n\n');
}

/** Returns the lines of a list of names with their values, with the same colours and the same folding as a table. */
export function list(
  rows: readonly (readonly Cell[])[],
  colours: Colours = {},
  columns: number | undefined = process.stdout.columns,
): string {
  const texts = textsOf(rows);
  return align(texts, colours, Math.max(roomOf(texts, columns), narrowest)).join('\n');
}

export function coloured(text: string, colours: Colours): string {
  const colour = colours[text];
  return colour === undefined ? text : styleText(colour, text, { stream: process.stdout });
}

function textsOf(rows: readonly (readonly Cell[])[]): string[][] {
  return rows.map((row) => row.map((cell) => withoutControls(String(cell ?? ''))));
}

/**
 * Escapes control characters, including those of the range C1, because a terminal executes them. Customers and
 * suppliers wrote some of the strings.
 */
export function withoutControls(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function widthsOf(texts: readonly (readonly string[])[]): number[] {
  return (texts[0] ?? []).map((_, column) => widest(texts.map((row) => row[column] ?? '')));
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, { length }) => Math.max(width, length), 0);
}

/** Returns the width of the last column: unlimited when the whole table fits, and 0 when it would be too narrow. */
function roomOf(texts: readonly (readonly string[])[], columns: number | undefined): number {
  const widths = widthsOf(texts);
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + gap.length, 0);
  // Some terminals without a size report 0 columns.
  if (!columns || before + (widths.at(-1) ?? 0) <= columns) return Number.POSITIVE_INFINITY;
  return columns - before >= narrowest ? columns - before : 0;
}

/** @param room the width of the last column; longer cells continue on separate lines */
function align(texts: readonly (readonly string[])[], colours: Colours, room: number): string[] {
  const widths = widthsOf(texts).slice(0, -1);
  const indent = ' '.repeat(widths.reduce((sum, width) => sum + width + gap.length, 0));
  return texts.map((row) => {
    const [last = '', ...more] = foldText(row[widths.length] ?? '', room);
    const cells = widths.map((width, column) => padded(row[column] ?? '', width, colours));
    const line = [...cells, coloured(last, colours)].join(gap).trimEnd();
    return [line, ...more.map((text) => indent + text)].join('\n');
  });
}

function padded(text: string, width: number, colours: Colours): string {
  return coloured(text, colours) + ' '.repeat(width - text.length);
}

/** Wraps a string between words. A word that is longer than the width has a separate line. */
function foldText(text: string, width: number): string[] {
  return text.length <= width ? [text] : help.boxWrap(text, width).split('\n');
}
