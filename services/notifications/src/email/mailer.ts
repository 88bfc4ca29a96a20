// Delivers e-mails to an SMTP server, or as .eml files to a folder.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { access, constants, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { StartError, toReason } from '@shop/shared/runtime';
import { parseEmail } from '@shop/shared/shop';
import { createTransport } from 'nodemailer';
import type { Email } from './email.ts';

export interface Mailer {
  /** The maximum number of concurrent e-mails. */
  readonly atOnce: number;
  /**
   * Resolves when the server has accepted the e-mail.
   * @param signal aborts the attempt
   * @throws UndeliverableError when no attempt can succeed, DeliveryUnknownError when the server may have accepted it,
   * another error when a later attempt may succeed
   */
  send(email: Email, signal: AbortSignal): Promise<void>;
  /** Removes the file of the e-mail with this name, if `send` has written one. */
  remove(name: string): Promise<void>;
  close(): void;
}

/** The server rejected this e-mail permanently, or its address is invalid. */
export class UndeliverableError extends Error {
  override readonly name = 'UndeliverableError';
}

/** The server received the whole e-mail and did not respond, so it may have accepted it. */
export class DeliveryUnknownError extends Error {
  override readonly name = 'DeliveryUnknownError';
}

// Milliseconds. After the greeting, nodemailer's default of 10 minutes applies, which RFC 5321 section 4.5.3.2.6
// requires at the end of the data. A client that disconnects earlier does not know that the e-mail was accepted, and
// sends it again.
const timeouts = { connectionTimeout: 30_000, greetingTimeout: 30_000, dnsTimeout: 10_000, idleTimeout: 5_000 };

/** @param url `smtp://` or `smtps://`, credentials included */
export function smtpMailer(url: string): Mailer {
  const atOnce = 8;
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: atOnce, // prevents e-mails from waiting for a connection
    disableFileAccess: true,
    disableUrlAccess: true,
    ...timeouts,
  });
  /** The signals of the attempts in which the server has received the whole e-mail. */
  const handedOver = new WeakSet<AbortSignal>();
  transport.use('stream', ({ data: { signal }, message }, done) => {
    const open = message.createReadStream.bind(message);
    // The connection reads this stream after the server's reply 354. The stream ends just before the final dot.
    message.createReadStream = (options) => open(options).once('end', () => signal && handedOver.add(signal));
    done();
  });
  return {
    atOnce,
    async send(email, signal) {
      const message = messageOf(email);
      try {
        await transport.sendMail({ ...message, signal });
      } catch (error) {
        if (isRefusal(error)) throw new UndeliverableError(error.message, { cause: error });
        if (handedOver.has(signal) && !isAnswered(error)) {
          throw new DeliveryUnknownError(
            `the server had the e-mail and did not say what became of it: ${toReason(error)}`,
            {
              cause: error,
            },
          );
        }
        throw error;
      }
    },
    remove: () => Promise.resolve(),
    close: () => transport.close(),
  };
}

/**
 * Writes each e-mail as one complete file; the same e-mail again replaces its file. Only this user can read the files
 * and a created folder, because e-mails contain addresses and tokens.
 * @throws StartError when the folder cannot be written
 */
export async function folderMailer(folder: string): Promise<Mailer> {
  const path = resolve(folder);
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.W_OK);
  } catch (error) {
    throw new StartError(`cannot write to the mail folder ${path} (${(error as NodeJS.ErrnoException).code})`);
  }
  const composer = createTransport({ streamTransport: true, buffer: true });
  return {
    atOnce: 20,
    async send(email) {
      const { message } = await composer.sendMail(messageOf(email));
      if (!Buffer.isBuffer(message)) throw new TypeError('the composed e-mail is no buffer');
      const partial = join(path, `.${email.name}.${process.pid}.partial`);
      // The calls are synchronous, because this takes less time than four steps on the thread pool for each e-mail.
      try {
        writeFileSync(partial, withCrlf(message), { mode: 0o600 });
        renameSync(partial, join(path, `${email.name}.eml`));
      } catch (error) {
        rmSync(partial, { force: true });
        throw error;
      }
    },
    remove: (name) => rm(join(path, `${name}.eml`), { force: true }),
    close() {},
  };
}

/** Returns the message with CRLF as line ends. nodemailer's own conversion takes ten times as long. */
function withCrlf(message: Buffer): Buffer {
  return Buffer.from(message.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
}

/** @throws UndeliverableError unless the recipient is exactly one address: no list, no comment, no line break */
function messageOf({ messageId, from, to: { name, address }, subject, text, html }: Email) {
  const parsed = parseEmail(address);
  if (parsed === undefined) throw new UndeliverableError('the address is no e-mail address');
  const to = { name, address: parsed.ascii };
  return { messageId, from, to, subject, text, html, headers: { 'Auto-Submitted': 'auto-generated' } };
}

/** Status codes for rejected credentials of the shop (RFC 4954 section 6), which do not concern the e-mail. */
const notLetIn: ReadonlySet<number> = new Set([530, 534, 535, 538]);

/**
 * Returns whether the server permanently rejects the recipient or the message (RFC 5321 section 4.2.1). A 5xx reply to
 * MAIL FROM concerns the shop's own address and affects every e-mail. So the e-mails wait until an operator has fixed
 * the cause.
 */
function isRefusal(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { command } = error as Error & { command?: unknown };
  const code = replyCode(error);
  return code >= 500 && !notLetIn.has(code) && (command === 'RCPT TO' || command === 'DATA');
}

/** Returns whether the server responded that it did not accept the e-mail. */
function isAnswered(error: unknown): boolean {
  return replyCode(error) >= 400;
}

function replyCode(error: unknown): number {
  return error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0;
}
