// Reads the end of a log file, and then the lines that are added to it.
import { open, stat } from 'node:fs/promises';

/** Bytes at the end of a file in which its newest lines are searched for. */
const searched = 4 * 1024 * 1024;

export class LogTail {
  readonly #path: string;
  /** The bytes of the file that were read. */
  #offset = 0;
  /** The beginning of a line that is not complete yet. */
  #rest = '';
  #inode = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the newest lines of the file, oldest first; an empty list without a file. */
  async newest(count: number): Promise<string[]> {
    const { size, ino } = await stateOf(this.#path);
    this.#inode = ino;
    this.#offset = Math.max(size - searched, 0);
    const isCut = this.#offset > 0;
    const lines = await this.#read(size);
    return (isCut ? lines.slice(1) : lines).slice(-count);
  }

  /** Returns the lines that were added since the last call, also when the file was replaced by a new one. */
  async added(): Promise<string[]> {
    const { size, ino } = await stateOf(this.#path);
    if (ino !== this.#inode || size < this.#offset) {
      this.#offset = 0;
      this.#rest = '';
      this.#inode = ino;
    }
    return size > this.#offset ? this.#read(size) : [];
  }

  async #read(size: number): Promise<string[]> {
    const bytes = Buffer.alloc(size - this.#offset);
    if (bytes.length === 0) return [];
    const file = await open(this.#path);
    try {
      const { bytesRead } = await file.read(bytes, 0, bytes.length, this.#offset);
      this.#offset += bytesRead;
      // A line ends with LF, which is not part of any other UTF-8 character. So no character is divided.
      const [rest = '', ...lines] = `${this.#rest}${bytes.toString('latin1', 0, bytesRead)}`.split('\n').reverse();
      this.#rest = rest;
      return lines.reverse().map((line) => Buffer.from(line, 'latin1').toString());
    } finally {
      await file.close();
    }
  }
}

/** Returns size and inode of a file. A file that does not exist is empty. */
async function stateOf(path: string): Promise<{ size: number; ino: number }> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return { size: 0, ino: 0 };
    throw error;
  });
}
