// Inserts items into YAML files, and leaves every other character as it is.
import { isMap, isNode, isScalar, isSeq, type Node, parseDocument } from 'yaml';

type Path = readonly string[];

/**
 * Adds a block of lines before an item of a block mapping or sequence, with the indentation of the item.
 * @param path leads to the item: keys, and as the last part the value of an item when it is in a sequence
 * @throws Error when the item does not exist
 */
export function insertBefore(text: string, path: Path, lines: string): string {
  const start = startOf(text, path);
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const indentation = /^ */.exec(text.slice(lineStart))?.[0] ?? '';
  const block = lines
    .trim()
    .split('\n')
    .map((line) => (line === '' ? '' : indentation + line))
    .join('\n');
  return `${text.slice(0, lineStart)}${block}\n${lines.endsWith('\n\n') ? '\n' : ''}${text.slice(lineStart)}`;
}

function startOf(text: string, path: Path): number {
  const parent = parseDocument(text).getIn(path.slice(0, -1), true);
  const last = path.at(-1);
  const item = isMap(parent)
    ? parent.items.find(({ key }) => isScalar(key) && key.value === last)?.key
    : isSeq(parent)
      ? parent.items.find((each) => isNode(each) && text.slice(...rangeOf(each)).includes(String(last)))
      : undefined;
  if (!isNode(item)) throw new Error(`there is no ${path.join('.')}`);
  return rangeOf(item)[0];
}

function rangeOf({ range }: Node): [number, number] {
  if (range == null) throw new Error('the item has no place in the text');
  return [range[0], range[1]];
}
