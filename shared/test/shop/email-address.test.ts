// How an e-mail address is parsed: its written form, the form for mail servers, and the form that is compared.
import { describe, expect, it } from '@jest/globals';
import { emailKey, parseEmail } from '../../src/shop/index.ts';

describe('an e-mail address', () => {
  it.each([
    ['kim@example.com', 'kim@example.com', 'kim@example.com'],
    ['  Kim.Park@Example.COM ', 'Kim.Park@example.com', 'kim.park@example.com'],
    ['x@bücher.example', 'x@xn--bcher-kva.example', 'x@xn--bcher-kva.example'],
    ['x@bu\u0308cher.example', 'x@xn--bcher-kva.example', 'x@xn--bcher-kva.example'],
    ['x@XN--BCHER-KVA.example', 'x@xn--bcher-kva.example', 'x@xn--bcher-kva.example'],
    ['x@ｅｘａｍｐｌｅ．ｃｏｍ', 'x@example.com', 'x@example.com'],
    ['x@example\u3002com', 'x@example.com', 'x@example.com'],
    ['x@exam\u00adple.c\u200bom', 'x@example.com', 'x@example.com'],
    ['x@exa\ufe0fmple.com', 'x@example.com', 'x@example.com'],
    ['x@faß.de', 'x@xn--fa-hia.de', 'x@xn--fa-hia.de'],
    ['Δοκιμή@παράδειγμα.gr', 'Δοκιμή@xn--hxajbheg2az3al.gr', 'δοκιμή@xn--hxajbheg2az3al.gr'],
    ['x@مثال.إختبار', 'x@xn--mgbh0fb.xn--kgbechtv', 'x@xn--mgbh0fb.xn--kgbechtv'],
    ["o'hara+shop@sub.example.co", "o'hara+shop@sub.example.co", "o'hara+shop@sub.example.co"],
    ['a@1.2.example', 'a@1.2.example', 'a@1.2.example'],
    [`${'x'.repeat(64)}@example.com`, `${'x'.repeat(64)}@example.com`, `${'x'.repeat(64)}@example.com`],
    [`a@${'x'.repeat(63)}.com`, `a@${'x'.repeat(63)}.com`, `a@${'x'.repeat(63)}.com`],
  ])('the address %s is mailed as %s and compared as %s', (text, ascii, key) => {
    expect(parseEmail(text)).toEqual({ written: text.normalize('NFC').trim(), ascii, key });
    expect(emailKey(text)).toBe(key);
    expect(emailKey(ascii)).toBe(key);
  });

  it.each(
    [
      ['', 'nobody', '@', 'a@', '@example.com', 'a@@example.com', 'a@b@example.com', 'a@localhost'],
      [
        'k@123.45',
        'k@1.2.3.4',
        'k@0x7f.1',
        'k@１２３.４５',
        'k@example.123',
        'k@٣.٣',
        'k@[127.0.0.1]',
        'k@[::1]',
        'k@::1',
      ],
      [
        'k@example..com',
        'k@.example.com',
        'k@example.com.',
        'k@-example.com',
        'k@example-.com',
        'k@a_b.com',
        'k@\u00ad.com',
      ],
      [
        'k@example.com/x',
        'k@example%2ecom',
        'k@example.com#x',
        'k@example.com?x',
        'k@example.com:25',
        'k@exa\tmple.com',
      ],
      ['a b@example.com', '.a@example.com', 'a.@example.com', 'a..b@example.com', '"a"@example.com', 'a,b@example.com'],
      // Characters that nobody can see: a joiner, a variation selector, a filler.
      ['a\u200d@example.com', 'a\u034f@example.com', 'a\ufe0f.b@example.com', '\u3164a@example.com'],
      [
        'a@example.com\r\nBcc: b@example.com',
        'a@example.com, b@example.com',
        '"Kim" <kim@example.com>',
        'a\0@example.com',
      ],
      [`${'x'.repeat(65)}@example.com`, `${'ü'.repeat(33)}@example.com`, `k@${'x'.repeat(64)}.com`],
      [`k@${'ü'.repeat(60)}.com`, `k@${`${'x'.repeat(60)}.`.repeat(4)}${'x'.repeat(10)}.com`],
      [`${'x'.repeat(60)}@${`${'x'.repeat(60)}.`.repeat(3)}example.com`],
    ].flat(),
  )('the string %j is not an e-mail address', (text) => {
    expect(parseEmail(text)).toBeUndefined();
  });

  it('an e-mail address is compared in lower case and without surrounding blanks, also when no e-mail can be sent to it', () => {
    expect(emailKey(' K@123.45 ')).toBe('k@123.45');
    expect(emailKey('Rene\u0301')).toBe('ren\u00e9');
  });
});
