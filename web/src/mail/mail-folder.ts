// The e-mails in the folder to which notifications writes them, one `.eml` file each.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { toReason } from '@shop/shared/runtime';
import PostalMime, { type Address, type Header } from 'postal-mime';

export interface SentEmail {
  /** The name of the file without `.eml`. */
  readonly name: string;
  readonly sentAt: Date;
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  /** Undefined for an e-mail without HTML. */
  readonly html: string | undefined;
  readonly headers: readonly Header[];
}

export interface EmailList {
  /** The newest e-mails, the newest first. */
  readonly emails: readonly SentEmail[];
  /** The number of all e-mails in the folder. */
  readonly total: number;
}

const extension = '.eml';
const mostListed = 100;

/** Lists in progress by folder. Concurrent requests share one, because a list needs the times of all files. */
const listing = new Map<string, Promise<EmailList>>();

/** Returns the newest e-mails of the folder. */
export function listEmails(folder: string): Promise<EmailList> {
  const current = listing.get(folder) ?? readList(folder).finally(() => listing.delete(folder));
  listing.set(folder, current);
  return current;
}

async function readList(folder: string): Promise<EmailList> {
  const files = await Promise.all((await namesIn(folder)).map((name) => fileOf(folder, name)));
  const newest = files
    .flatMap((file) => file ?? [])
    .sort((a, b) => b.sentAt.getTime() - a.sentAt.getTime())
    .slice(0, mostListed);
  const emails = await Promise.all(newest.map(parse));
  return { emails: emails.flatMap((email) => email ?? []), total: files.length };
}

/**
 * Returns the e-mail with this name; undefined when it does not exist.
 * @param name from a request. It is only compared with the names in the folder, and so never leaves the folder
 */
export async function readEmail(folder: string, name: string): Promise<SentEmail | undefined> {
  const known = (await namesIn(folder)).find((one) => one === name);
  const file = known === undefined ? undefined : await fileOf(folder, known);
  return file && parse(file);
}

/** Returns the names of the e-mails, none when the folder does not exist. Links and folders are left out. */
async function namesIn(folder: string): Promise<string[]> {
  const entries = (await unlessErased(readdir(folder, { withFileTypes: true }))) ?? [];
  return entries.flatMap((entry) =>
    entry.isFile() && entry.name.endsWith(extension) ? [entry.name.slice(0, -extension.length)] : [],
  );
}

interface EmailFile {
  readonly path: string;
  readonly name: string;
  readonly sentAt: Date;
}

async function fileOf(folder: string, name: string): Promise<EmailFile | undefined> {
  const path = join(folder, `${name}${extension}`);
  const found = await unlessErased(stat(path));
  return found && { path, name, sentAt: found.mtime };
}

async function parse({ path, name, sentAt }: EmailFile): Promise<SentEmail | undefined> {
  const content = await unlessErased(readFile(path));
  if (content === undefined) return undefined;
  try {
    const { from, to = [], subject = '', text = '', html, headers } = await PostalMime.parse(content);
    const addresses = (list: readonly Address[]): string => list.map(addressText).join(', ');
    return { name, sentAt, from: addresses(from ? [from] : []), to: addresses(to), subject, text, html, headers };
  } catch (error) {
    // The parser rejects files that are nested too deeply or have a very long header.
    const subject = `This file is no e-mail: ${toReason(error)}`;
    return { name, sentAt, from: '', to: '', subject, text: '', html: undefined, headers: [] };
  }
}

/** Returns an address with its name, or the name of a group with its members (RFC 5322 section 3.4). */
function addressText({ name, address = '', group }: Address): string {
  if (group !== undefined) return `${name}: ${group.map(addressText).join(', ')};`;
  return name === '' ? address : `${name} <${address}>`;
}

/**
 * Resolves with undefined for a file or folder that does not exist, such as the e-mail of an account that was erased
 * meanwhile.
 */
async function unlessErased<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
