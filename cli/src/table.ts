// Rows for people: columns as wide as they need to be.

/** The lines of a table; the first row is the heading. A cell without a value stays empty. */
export function table(rows: readonly (readonly (string | number | null | undefined)[])[]): string {
  const texts = rows.map((row) => row.map((cell) => String(cell ?? '')));
  const widths = (texts[0] ?? []).map((_, column) => Math.max(...texts.map((row) => row[column]?.length ?? 0)));
  return texts
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
