// Hands e-mails over: to an SMTP server, or as .eml files in a folder.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { access, constants, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StartError } from '@shop/shared/runtime';
import { createTransport } from 'nodemailer';
import type { Email } from './email.ts';

export interface Mailer {
  /** How many e-mails it is given at once, by each of the senders. */
  readonly atOnce: number;
  /**
   * Resolves when the e-mail is in other hands.
   * @throws UndeliverableError when it never will be, any other error when trying again may help
   */
  send(email: Email): Promise<void>;
  close(): void;
}

/** The server refused this e-mail for good, or its address is none. */
export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError';
}

const timeouts = { connectionTimeout: 4_000, greetingTimeout: 4_000, socketTimeout: 6_000, dnsTimeout: 4_000 };

/**
 * @param url `smtp://` or `smtps://`, credentials included
 * @param senders how many use it; each of its e-mails has a connection of its own, none waits for another
 */
export function smtpMailer(url: string, senders: number): Mailer {
  const atOnce = 4;
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: senders * atOnce,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...timeouts,
  });
  return {
    atOnce,
    async send(email) {
      requireAddress(email);
      try {
        await transport.sendMail(messageOf(email));
      } catch (error) {
        if (isRefusal(error)) throw new UndeliverableError(error.message, { cause: error });
        throw error;
      }
    },
    close: () => transport.close(),
  };
}

/**
 * Writes each e-mail as one file, complete or not at all; the same e-mail again replaces its file.
 * @throws StartError when the folder cannot be written
 */
export async function folderMailer(folder: string): Promise<Mailer> {
  const path = resolve(folder);
  try {
    await mkdir(path, { recursive: true });
    await access(path, constants.W_OK);
  } catch (error) {
    throw new StartError(`cannot write to the mail folder ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
  return {
    atOnce: 20,
    async send(email) {
      requireAddress(email);
      const { message } = await composer.sendMail(messageOf(email));
      if (!Buffer.isBuffer(message)) throw new TypeError('the composed e-mail is no buffer');
      const partial = join(path, `.${email.name}.${process.pid}.partial`);
      // At once: it takes less time than handing each step to a thread, of which every e-mail would need four.
      try {
        writeFileSync(partial, message);
        renameSync(partial, join(path, `${email.name}.eml`));
      } catch (error) {
        rmSync(partial, { force: true });
        throw error;
      }
    },
    close() {},
  };
}

function messageOf({ messageId, from, to, subject, text, html }: Email) {
  return { messageId, from, to, subject, text, html, headers: { 'Auto-Submitted': 'auto-generated' } };
}

/** One address and nothing else: no list, no comment, no line break. */
function requireAddress({ to }: Email): void {
  if (!/^[^\s\p{Cc}<>(),:;[\]\\"]+@[^\s\p{Cc}<>(),:;[\]\\"@]+$/u.test(to.address)) {
    throw new UndeliverableError('the address is no e-mail address');
  }
}

/** A 5xx reply to the sender, the recipient or the message itself (RFC 5321 section 4.2.1). A refused login is no such thing. */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { responseCode, command } = error as Error & { responseCode?: unknown; command?: unknown };
  return Number(responseCode) >= 500 && ['MAIL FROM', 'RCPT TO', 'DATA'].includes(String(command));
}
