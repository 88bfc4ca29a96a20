// A file is divided into parts at the ends of lines, and no line is lost or counted twice.
import { expect, it } from '@jest/globals';
import { divideFile, linesOf } from '../src/imports/file-parts.ts';

const shown = (text: string): string[] =>
  divideFile(Buffer.from(text)).parts.flatMap((part) =>
    linesOf(part).map(({ line, bytes }) => `${line}:${bytes.toString()}`),
  );

it.each<[string, string, string[]]>([
  ['one line without an end', '{}', ['1:{}']],
  ['one line', '{}\n', ['1:{}']],
  ['a blank line', '\n', ['1:']],
  ['blank lines between others', 'a\n\n\nb', ['1:a', '2:', '3:', '4:b']],
  ['other separators', 'a\r\nb\u2028c\rd\n', ['1:a\r', '2:b\u2028c\rd']],
])('a part of a file is split into its lines: %s', (_name, text, lines) => {
  expect(shown(text)).toEqual(lines);
  expect(divideFile(Buffer.from(text)).lines).toBe(lines.length);
});

it('a part has at most 500 lines', () => {
  const text = 'x\n'.repeat(1_203);
  const { lines, parts } = divideFile(Buffer.from(text));
  expect(lines).toBe(1_203);
  expect(parts.map((part) => [part.firstLine, linesOf(part).length])).toEqual([
    [1, 500],
    [501, 500],
    [1_001, 203],
  ]);
});

it('a part has about 256 KiB or one longer line, and all parts together are the file', () => {
  const line = `${'y'.repeat(100_000)}\n`;
  const file = Buffer.from(line.repeat(4) + 'z'.repeat(1_000_000));
  const { lines, parts } = divideFile(file);
  expect(lines).toBe(5);
  expect(parts.map((part) => [part.firstLine, linesOf(part).length])).toEqual([
    [1, 3],
    [4, 2],
  ]);
  expect(Buffer.concat(parts.map(({ bytes }) => bytes)).equals(file)).toBe(true);
});
