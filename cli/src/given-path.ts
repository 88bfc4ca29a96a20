// Paths on the command line, which npm runs in the checkout wherever it was called.
import { resolve } from 'node:path';

/** The path as it was meant in the folder in which the command was typed. */
export function givenPath(path: string): string {
  return resolve(process.env.INIT_CWD ?? '.', path);
}
