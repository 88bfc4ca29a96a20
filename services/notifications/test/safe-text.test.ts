// Text of customers and staff in e-mails: every character is kept, and none of it becomes a link.
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { inHtml, inText, linkBreak, oneLine, withoutLinks } from '../src/email/safe-text.ts';

const hostile = [
  'Visit https://evil.example',
  'HTTP://EVIL.EXAMPLE',
  'evil.example',
  'see evil.example/win now',
  'www.evil.example',
  'write to mallory@evil.example',
  'mallory@evil',
  'evil\u3002example',
  'evil\uff0eexample',
  'evil\uff61example',
  'evil\u2024example',
  'evil\ufe52example',
  'ev\u00adil.ex\u200bample',
  'evil.\u2060example',
  'evil\u200b.\u200bexample',
  '\uff48\uff54\uff54\uff50\uff1a\uff0f\uff0fevil',
  'mallory\uff20evil',
  'win.пример',
  // Top-level domains of India and of Bangladesh: their second character is a combining mark.
  'win.\u092d\u093e\u0930\u0924',
  'win.\u09ad\u09be\u09b0\u09a4',
  '10.1.2.3 has it',
  '1.1.1.1',
  '3.evil.example',
  'a.1.example',
  'mailto:mallory',
  'tel:08001234567',
  'javascript:alert(1)',
  'http://[::1]/',
  '\\\\evil\\share',
  'Win 500 EUR:evil.example!',
  '(evil.example)',
  'evil...example',
  '=?utf-8?q?evil?=',
];

/** Addresses and names as people of many countries write them. */
const real = [
  'ul.Marszałkowska 1',
  'St.Gallen',
  'P.O.Box 12',
  'Bahnhofstr.12a',
  'Av.da Liberdade 110-1.ºDto',
  'C/Gran Vía,nº 28 3.ºB',
  'д.12 корп.3 кв.45, ул.Ленина',
  'r.Dr.António José de Almeida n.º7',
  'nám.Míru 5',
  'Str.Lipscani nr.3,bl.A2',
  '1.Mai-Straße 5',
  'Hauptstraße 3.OG',
  '〒100-0001 東京都千代田区千代田1-1',
  'شارع الملك فهد، ص.ب. 12',
  'रा.मा. 44, मुंबई',
  'Via XX Settembre,12 - 3°p.int.4',
  'Müller & Söhne GmbH',
  'Gal·la',
  'Núñez i Cia.,S.L.',
  'Amazon.com Inc.',
  'A.P.Møller-Mærsk A/S',
  'J.R.R. Tolkien',
  "Miles O'Brien",
  'Dr. No',
  'Zoë Müller-Lüdenscheidt',
  '山田 太郎',
  '山田・太郎',
  'محمد بن سلمان',
  'نسرین\u200cمحمدی',
  'Ren\u0065\u0301',
  'Nguyễn Thị Minh Khai',
  'Ada 👩‍🔬',
  'c/o:Frau Kim',
  'Ordered twice',
  'It cost 19.50 and now 12,99, at 12:30!',
  'Too late... sorry (again)',
  'Größe 4 & 5 < 6',
  'Nr. 5',
  'a'.repeat(200),
];

/** What programs turn into links: a scheme, an address, a name of a host, an IPv4 address, a path of Windows. */
const links =
  /[\p{L}\p{N}][:\ufe55\uff1a](?=[^\s\p{N}])|\S[@\ufe6b\uff20]\S|\p{L}[\p{L}\p{M}\p{N}\p{Cf}-]*[.\u2024\u3002\ufe52\uff0e\uff61]\p{Cf}*[\p{L}\p{M}]|(?:\d+\.){3}\d|\\\\|=\?/u;
const spaces = /\u200b/g;
const shown = (html: string) =>
  html
    .replace(/<\/?span>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#x27;', "'")
    .replaceAll('&amp;', '&');

describe('the text of a person', () => {
  it.each([...hostile, ...real])('the text of a person keeps every character in plain text and in HTML: %s', (text) => {
    const broken = withoutLinks(text) ?? '';
    expect(inText(broken).replace(spaces, '')).toBe(text.replace(spaces, ''));
    expect(shown(inHtml(broken))).toBe(text);
  });

  it.each(hostile)('the text of a person has no link in plain text and in HTML: %s', (text) => {
    const broken = withoutLinks(`Because ${text}, and ${text}`) ?? '';
    expect(broken.split(linkBreak).length).toBeGreaterThan(2);
    // A program could treat a zero-width space as nothing, except behind a full stop, colon or at sign.
    const parts = [...inText(broken).split('\u200b'), ...inHtml(broken).split(/<\/?span>/)];
    for (const part of parts) expect(part).not.toMatch(links);
  });

  it.each([
    'Müller & Söhne GmbH',
    'Gal·la',
    '山田・太郎',
    'St. Gallen',
    'Dr. No',
    'Ordered twice',
    'It cost 19.50 and now 12,99, at 12:30!',
    'Größe 4 & 5 < 6',
    'Too late... sorry (again)',
    'A/S 1-1/2',
  ])('the text of a person is not changed when no program could see a link in it: %s', (text) => {
    expect(withoutLinks(text)).toBe(text);
  });

  it('the text of a person is on one line, without characters that change the direction of the rest', () => {
    expect(withoutLinks('one\r\ntwo\u2028three\u202efour\u001ffive')).toBe('one two three four five');
  });

  it.each(['', '  ', '\u200b', '\u3164\u00ad', '\r\n'])(
    'a text of a person that shows no characters is omitted: %j',
    (text) => {
      expect(withoutLinks(text)).toBeUndefined();
    },
  );

  it('the text of a person is escaped in HTML', () => {
    expect(inHtml(withoutLinks('<a href="x.example">&\'</a>') ?? '')).toBe(
      '&lt;a href=&quot;x<span>.</span>example&quot;&gt;&amp;&#x27;&lt;/a&gt;',
    );
  });

  it.each(['.', ':', '@', '1.', 'a.', '=?', '\\', '1:'])(
    'the text of a person of the largest size takes little time: %s',
    (text) => {
      expect(withoutLinks(text.repeat(50_000))).toEqual(expect.any(String));
    },
  );
});

/** Prints the decoded display name of `To`, by both policies of Python's e-mail parser. */
const parser = `
import sys, email
from email import policy
from email.header import decode_header, make_header
from email.utils import parseaddr
raw = sys.stdin.buffer.read()
modern = email.message_from_bytes(raw, policy=policy.default)
print(modern['to'].addresses[0].display_name)
print(parseaddr(str(make_header(decode_header(email.message_from_bytes(raw)['to']))))[0])
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;

it('every e-mail parser reads a display name as it was written', async () => {
  const composer = createTransport({ streamTransport: true, buffer: true });
  const names = ['Ada Lovelace', 'Zoë Müller', 'Müller & Söhne GmbH', 'St.Gallen', '=?utf-8?q?evil?='];
  for (const name of names) {
    const to = { name: inText(withoutLinks(name) ?? ''), address: 'ada@example.org' };
    const { message } = await composer.sendMail({ from: 'shop@example.org', to, subject: 'x', text: 'x' });
    if (!hasPython) continue;
    const options = {
      input: message as Buffer,
      encoding: 'utf8',
      env: { ...process.env, PYTHONIOENCODING: 'utf8' },
    } as const;
    const [modern, former] = execFileSync('python3', ['-c', parser], options).split('\n');
    expect([modern, former]).toEqual([to.name, to.name]);
    expect(oneLine(to.name).replace(spaces, '')).toBe(name);
  }
});
