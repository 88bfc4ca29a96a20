/**
 * Returns the minimum number of letters to insert, delete, replace or swap with their neighbour to turn one word into
 * the other (optimal string alignment).
 */
export function editDistance(one: string, other: string): number {
  const [a, b] = [[...one], [...other]];
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (const [row, letter] of a.entries()) {
    const current = [row + 1];
    for (const [column, wanted] of b.entries()) {
      const replaced = (above[column] ?? 0) + (letter === wanted ? 0 : 1);
      let least = Math.min(replaced, (above[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1);
      const isSwapped = row > 0 && column > 0 && letter === b[column - 1] && a[row - 1] === wanted;
      if (isSwapped) least = Math.min(least, (before[column - 1] ?? 0) + 1);
      current.push(least);
    }
    before = above;
    above = current;
  }
  return above[b.length] ?? 0;
}
