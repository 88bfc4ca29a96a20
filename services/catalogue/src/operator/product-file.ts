// Reads and writes files of products, one line at a time: CSV (RFC 4180) or JSON lines.
import { createReadStream } from 'node:fs';
import type { FieldType } from '@shop/shared/collection';
import { maxBodyBytes } from '@shop/shared/contract';
import { cleanJson } from '@shop/shared/json';
import type { Fault } from '@shop/shared/problem';
import { StartError } from '@shop/shared/runtime';
import { CsvError, parse } from 'csv-parse';
import { type ProductLine, readJson, readJsonLine } from '../imports/json-line.ts';
import { productColumns, writtenLines } from '../product/product-columns.ts';
import { type Format, formats } from './values.ts';

/** The members of a line, and the columns of a CSV file. */
const members = [
  'externalKey',
  ...Object.entries(productColumns)
    .filter(([member, line]) => member === 'currency' || ('type' in line && member !== 'sku'))
    .map(([member]) => member),
];

/**
 * Returns the columns with cells that are not strings. Numbers are written as in a query. So `1.500` is rejected in a
 * currency with two decimals, because in much of Europe it means 1500.
 */
function cellTypes(currency: string): ReadonlyMap<string, FieldType> {
  const types = writtenLines.map(({ member, type }) => [member, type.field(currency)] as const);
  return new Map(types.filter(([, { cast }]) => cast !== 'text'));
}

export interface ProductFile {
  readonly lines: AsyncIterable<ProductLine>;
  bytesRead(): number;
}

/** @throws StartError when neither the name nor `given` states the format */
export function parseFormat(path: string, given?: string): Format {
  const named = given ?? /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  const format = formats.find((candidate) => candidate === named);
  if (format === undefined) throw new StartError(`the name of ${path} must end in .csv or .ndjson`);
  return format;
}

/**
 * Opens a file for reading and skips blank lines.
 * Iterating over the lines throws StartError when the file cannot be read further.
 */
export function readProductFile(path: string, format: Format, currency: string): ProductFile {
  const stream = createReadStream(path, { highWaterMark: 256 * 1024 });
  return {
    lines: format === 'csv' ? csvLines(stream, cellTypes(currency)) : jsonLines(stream),
    bytesRead: () => stream.bytesRead,
  };
}

async function* jsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<ProductLine> {
  let line = 0;
  for await (const bytes of splitLines(chunks)) {
    line += 1;
    const read = readJsonLine(line, bytes);
    if (read !== undefined) yield read;
  }
}

/**
 * Splits at LF only, because JSON strings may contain every other separator. Drops the part of a line beyond its limit.
 */
async function* splitLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const part = chunk.subarray(from, end);
      yield rest.length > 0 ? Buffer.concat([rest, part]) : part;
      rest = Buffer.alloc(0);
      from = end + 1;
    }
    if (rest.length <= maxBodyBytes) rest = Buffer.concat([rest, chunk.subarray(from)]);
  }
  if (rest.length > 0) yield rest;
}

async function* csvLines(
  stream: NodeJS.ReadableStream,
  types: ReadonlyMap<string, FieldType>,
): AsyncGenerator<ProductLine> {
  const skipped: ProductLine[] = [];
  let broken: CsvError | undefined;
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true, // a line with too few or too many cells is rejected alone
    skip_records_with_error: true,
    max_record_size: maxBodyBytes,
    on_skip: (error) => {
      if (error?.code === 'INVALID_OPENING_QUOTE') {
        skipped.push({ line: lineOf(error), faults: [{ pointer: '', detail: misplacedQuote }] });
      } else broken ??= error; // the end of the quoted cell is unknown, and therefore the beginning of the next line
    },
  });
  stream.once('error', (error) => parser.destroy(error as Error));
  let columns: readonly string[] | undefined;
  let line = 1;
  try {
    for await (const { record, info } of stream.pipe(parser) as AsyncIterable<Parsed>) {
      if (broken !== undefined && line >= lineOf(broken)) break;
      while (skipped[0] !== undefined && skipped[0].line < info.lines) {
        line = Math.max(line, skipped[0].line + 1);
        yield skipped.shift() as ProductLine;
      }
      const first = line;
      line = info.lines + 1;
      if (columns === undefined) columns = readHeading(record);
      else if (record.length > 1 || record[0]?.trim() !== '') yield readCells(first, columns, record, types);
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    broken ??= error;
  }
  yield* skipped;
  if (broken !== undefined) {
    throw new StartError(
      `from line ${line} on this is no CSV: ${reasonOf(broken)}. Correct the file and import it again.`,
    );
  }
}

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

function lineOf(error: CsvError): number {
  return typeof error.lines === 'number' ? error.lines : 0;
}

const misplacedQuote = 'has a quote in the wrong place: quotes stand around a whole cell, and are doubled inside it';

function reasonOf({ code }: CsvError): string {
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote is not closed';
  if (code === 'CSV_MAX_RECORD_SIZE')
    return `more than ${maxBodyBytes} bytes in one line, or a quote that is not closed`;
  return misplacedQuote;
}

function readHeading(cells: readonly string[]): readonly string[] {
  const unknown = cells.filter((cell, index) => !members.includes(cell) || cells.indexOf(cell) !== index);
  if (unknown.length > 0) {
    throw new StartError(
      `the first line must name the columns, each once: ${members.join(', ')}; ` +
        `not "${unknown.join('", "').slice(0, 200)}"`,
    );
  }
  return cells;
}

/** Reads the cells of a line. The member of an empty cell is absent. */
function readCells(
  line: number,
  columns: readonly string[],
  cells: readonly string[],
  types: ReadonlyMap<string, FieldType>,
): ProductLine {
  if (cells.length !== columns.length) {
    return { line, faults: [{ pointer: '', detail: `must have ${columns.length} cells, not ${cells.length}` }] };
  }
  const read = columns.map((column, index) => ({ column, ...readCell(column, cells[index] ?? '', types) }));
  const values = Object.fromEntries(read.map(({ column, value }) => [column, value]));
  const { value, faults } = cleanJson(values);
  const lacking = members.filter((member) => !columns.includes(member));
  return { line, value, faults: [...read.flatMap((cell) => cell.faults ?? []), ...faults], lacking };
}

/** Reads a cell. Its value is undefined when it is empty or has a fault. */
function readCell(
  column: string,
  cell: string,
  types: ReadonlyMap<string, FieldType>,
): { readonly value?: unknown; readonly faults?: readonly Fault[] } {
  const pointer = `/${column}`;
  const type = types.get(column);
  if (cell === '') return {};
  if (cell.includes('\uFFFD')) {
    return { faults: [{ pointer, detail: 'is not valid UTF-8: save the file in that encoding' }] };
  }
  if (type?.cast === 'json') {
    const { value, faults } = readJson(0, Buffer.from(cell));
    return {
      value,
      faults: (faults ?? []).map((fault) => ({ ...fault, pointer: `${pointer}${fault.pointer ?? ''}` })),
    };
  }
  if (type === undefined) return { value: cell };
  const units = type.fromText(cell);
  return units === undefined
    ? { faults: [{ pointer, detail: `must be ${type.expects}` }] }
    : { value: type.toJson(units) };
}

/** Returns the heading of a new file. */
export function heading(format: Format): string {
  return format === 'csv' ? `${members.join()}\n` : '';
}

/** Returns one product as a line of a file. */
export function writeLine(format: Format, product: Readonly<Record<string, unknown>>): string {
  if (format === 'ndjson') {
    const present = members.filter((member) => product[member] !== null);
    return `${JSON.stringify(Object.fromEntries(present.map((member) => [member, product[member]])))}\n`;
  }
  return `${members.map((member) => writeCell(product[member] ?? '')).join()}\n`;
}

function writeCell(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
