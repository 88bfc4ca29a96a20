// Tables for people, with colours for important words.
import { styleText } from 'node:util';

export type Cell = string | number | null | undefined;

/** Word → colour, for cells that consist of that word. */
export type Colours = Readonly<Record<string, 'green' | 'yellow' | 'red'>>;

/**
 * The lines of a table; the first row is the heading. A cell without a value stays empty. Colours are used on a
 * terminal only, and not where NO_COLOR is set.
 */
export function table(rows: readonly (readonly Cell[])[], colours: Colours = {}): string {
  const texts = rows.map((row) => row.map((cell) => String(cell ?? '')));
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  return texts
    .map((row) =>
      row
        .map((cell, column) => coloured(cell, colours) + ' '.repeat((widths[column] ?? 0) - cell.length))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function coloured(text: string, colours: Colours): string {
  const colour = colours[text];
  return colour === undefined ? text : styleText(colour, text, { stream: process.stdout });
}
