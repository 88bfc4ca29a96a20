// The names of an image's files, and the texts that occur in them.
import { PassThrough, type Readable } from 'node:stream';
import type { Engine } from './compose-shop.ts';

export interface ImageFiles {
  readonly names: readonly string[];
  /** Those of the texts that occur somewhere in the image's file system. */
  readonly found: readonly string[];
}

const block = 512;

/** Reads the file system of an image as a tar archive, without running it. */
export async function readImage(engine: Engine, image: string, texts: readonly string[]): Promise<ImageFiles> {
  const container = await engine.container.dockerode.createContainer({ Image: image, Cmd: ['none'] });
  try {
    const archive = (await container.export()) as Readable;
    return await readArchive(archive.pipe(new PassThrough()), texts);
  } finally {
    await container.remove({ force: true });
  }
}

async function readArchive(archive: AsyncIterable<Buffer>, texts: readonly string[]): Promise<ImageFiles> {
  const names: string[] = [];
  const found = new Set<string>();
  const longest = Math.max(0, ...texts.map((text) => text.length));
  let rest = Buffer.alloc(0);
  let skip = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of archive) {
    const seen = Buffer.concat([tail, chunk]);
    for (const text of texts) if (seen.includes(text)) found.add(text);
    tail = seen.subarray(Math.max(0, seen.length - longest));

    rest = Buffer.concat([rest, chunk]);
    while (skip > 0 || rest.length >= block) {
      const skipped = Math.min(skip, rest.length);
      skip -= skipped;
      rest = rest.subarray(skipped);
      if (skip > 0 || rest.length < block) break;
      const header = rest.subarray(0, block);
      rest = rest.subarray(block);
      const name = field(header, 0, 100);
      if (name === '') continue;
      const prefix = field(header, 345, 155);
      names.push(prefix === '' ? name : `${prefix}/${name}`);
      skip = Math.ceil(Number.parseInt(field(header, 124, 12) || '0', 8) / block) * block;
    }
  }
  return { names, found: [...found] };
}

/** A text field of a tar header, up to its NUL. */
function field(header: Buffer, start: number, length: number): string {
  const bytes = header.subarray(start, start + length);
  const end = bytes.indexOf(0);
  return bytes
    .subarray(0, end < 0 ? length : end)
    .toString('utf8')
    .trim();
}
