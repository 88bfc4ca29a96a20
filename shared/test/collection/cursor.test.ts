// A cursor can be decrypted only for its own query, with any of the keys.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCursors } from '../../src/collection/index.ts';

const key = (byte: number) => Buffer.alloc(32, byte);
const at = { parameter: 'cursor' };
const cursors = createCursors([key(1)]);
/** A second process with the same key. */
const elsewhere = () => createCursors([key(1)]);

describe('a cursor', () => {
  it('a cursor can be opened with its own binding', () => {
    const position = ['2026-11-21 03:00:00+00', null, '"\\ü'];
    const cursor = cursors.seal(position, 'products');
    for (const opener of [cursors, elsewhere()]) expect(opener.open(cursor, 'products', at)).toEqual(position);
  });

  it('a cursor reveals nothing about the row', () => {
    const cursor = cursors.seal(['secret price'], 'products');
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('secret');
  });

  it('a cursor is the same for the same position and binding, in every process', () => {
    expect(elsewhere().seal(['1', null], 'products')).toBe(cursors.seal(['1', null], 'products'));
  });

  it('a cursor shares its nonce with no other position, binding or key', () => {
    const nonces = [
      cursors.seal(['1'], 'products'),
      cursors.seal(['2'], 'products'),
      cursors.seal(['1'], 'orders'),
      // The boundary between position and binding is part of the input of the nonce.
      cursors.seal([], '["x"]\n'),
      cursors.seal(['x'], '[]'),
      createCursors([key(2)]).seal(['1'], 'products'),
    ].map((cursor) => cursor.slice(0, 16));
    expect(new Set(nonces).size).toBe(nonces.length);
  });

  it('a cursor cannot be opened with another binding', () => {
    const cursor = cursors.seal(['1'], 'products of A');
    for (const opener of [cursors, elsewhere()]) {
      expect(() => opener.open(cursor, 'products of B', at)).toThrow(
        expect.objectContaining({ code: 'invalid-cursor' }),
      );
    }
  });

  it('a cursor cannot be opened when any character is changed, added or removed', () => {
    const cursor = cursors.seal(['1', 'x'], 'products');
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    fc.assert(
      fc.property(fc.nat(cursor.length - 1), fc.constantFrom(...alphabet, '', '!', '=', '\n'), (index, character) => {
        const changed = cursor.slice(0, index) + character + cursor.slice(index + 1);
        fc.pre(changed !== cursor);
        expect(() => cursors.open(changed, 'products', at)).toThrow(
          expect.objectContaining({ code: 'invalid-cursor' }),
        );
      }),
    );
    expect(() => cursors.open(`${cursor}=`, 'products', at)).toThrow();
  });

  it('a value that is not a cursor cannot be opened', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String({ maxLength: 9000 })), (text) => {
        expect(() => cursors.open(text, 'products', at)).toThrow(
          expect.objectContaining({ code: 'invalid-cursor', errors: [expect.objectContaining(at)] }),
        );
      }),
    );
  });

  it('a cursor can be opened after a rotation as long as its key is configured', () => {
    const cursor = cursors.seal(['1'], 'products');
    expect(createCursors([key(2), key(1)]).open(cursor, 'products', at)).toEqual(['1']);
    expect(() => createCursors([key(2)]).open(cursor, 'products', at)).toThrow();
    const sealedByNewest = createCursors([key(2), key(1)]).seal(['1'], 'products');
    expect(createCursors([key(2)]).open(sealedByNewest, 'products', at)).toEqual(['1']);
  });
});
