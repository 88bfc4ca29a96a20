// Cursors: the position of a page's last row, encrypted and bound to its request.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { Problem } from '../../problem/index.ts';
import { bounds } from '../grammar/bounds.ts';
import type { Position } from '../grammar/criteria.ts';
import type { InputLocation } from '../grammar/tree.ts';

export interface Cursors {
  /**
   * Encrypts a position. The same position and binding produce the same cursor, so that an unchanged page has an
   * unchanged body and entity tag.
   * @param binding identifies the query of the cursor; decryption requires the same binding
   */
  seal(position: Position, binding: string): string;
  /**
   * @param at the location of the cursor in the request
   * @throws Problem `invalid-cursor` when the shop did not encrypt it with this binding
   */
  open(cursor: string, binding: string, at: InputLocation | { readonly header: string }): Position;
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts with the first key and decrypts with any key (AES-256-GCM with the binding as additional data). A cursor of
 * another collection, caller, filter or sort order therefore fails like a forged one. The nonce is an HMAC of the whole
 * input under a separate key, so two different cursors do not share a nonce.
 * @param keys of 32 bytes each, newest first
 */
export function createCursors(keys: readonly Buffer[]): Cursors {
  const secrets = keys.map((key) => createSecretKey(key));
  const [newest] = secrets;
  if (!newest) throw new RangeError('cursors need a key');
  const nonceKey = createSecretKey(Buffer.from(hkdfSync('sha256', newest, '', 'nonces of cursors', 32)));
  return {
    seal(position, binding) {
      const content = JSON.stringify(position);
      // JSON contains line breaks only between its tokens, so a line break marks the end of the content.
      const nonce = createHmac('sha256', nonceKey).update(`${content}\n${binding}`).digest().subarray(0, nonceBytes);
      const cipher = createCipheriv(algorithm, newest, nonce);
      cipher.setAAD(Buffer.from(binding));
      const sealed = cipher.update(content, 'utf8');
      // Returns no further bytes, because this mode of AES does not use padding.
      cipher.final();
      return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url');
    },
    open(cursor, binding, at) {
      for (const secret of secrets) {
        const position = tryOpen(secret, cursor, binding);
        if (position) return position;
      }
      const detail = 'is not the nextCursor of an answer to this request: the same filters, sort and caller';
      throw new Problem(
        'invalid-cursor',
        [
          'The cursor does not belong to this request.',
          'Send nextCursor unchanged with the same sort and filters, or begin again without a cursor.',
        ].join(' '),
        { errors: [{ ...at, detail }] },
      );
    },
  };
}

function tryOpen(secret: KeyObject, cursor: string, binding: string): Position | undefined {
  if (cursor.length > bounds.cursorCharacters) return undefined;
  const bytes = Buffer.from(cursor, 'base64url');
  // Decoding ignores characters outside base64url, but a cursor must have exactly one valid encoding.
  if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== cursor) return undefined;
  const decipher = createDecipheriv(algorithm, secret, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(binding));
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const opened = decipher.update(bytes.subarray(nonceBytes, -tagBytes));
    // Returns no further bytes, and throws unless the tag matches.
    decipher.final();
    return JSON.parse(opened.toString()) as Position;
  } catch {
    return undefined;
  }
}
