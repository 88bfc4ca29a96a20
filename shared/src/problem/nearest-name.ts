// Finds the name that a client probably meant, for the detail of a problem.

/**
 * Returns the name that differs from the given one by case, separators or a few letters, or the only one that has it as a
 * word: `reason` → `cancellation_reason`. Undefined when no name is near.
 */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const wanted = plain(given);
  if (wanted === '') return undefined;
  const most = wanted.length < 5 ? 1 : 2;
  const [nearest] = names
    .map((name) => ({ name, distance: nameDistance(wanted, plain(name), most) }))
    .filter(({ distance }) => distance <= most)
    .sort((one, other) => one.distance - other.distance);
  if (nearest !== undefined) return nearest.name;
  const containing = names.filter((name) => wordsOf(name).includes(wanted));
  return containing.length === 1 ? containing[0] : undefined;
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
    .replace(/ies$/, 'y');
}

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

/**
 * Returns the number of inserted, removed and replaced letters; more than `most` when the lengths alone differ by more.
 */
function nameDistance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let from = 1; from <= one.length; from += 1) {
    const next = [from];
    for (let to = 1; to <= other.length; to += 1) {
      const replaced = (row[to - 1] ?? 0) + (one[from - 1] === other[to - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
