// The parts of a customer's text that an e-mail to an unverified address may repeat.
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { plainName, plainSentence } from '../src/plain-words.ts';

const withAddress = [
  'Visit https://evil.example',
  'evil.example',
  'see evil.example/win now',
  'www evil',
  'write to mallory@evil.example',
  'evil\u3002example',
  'evil\uff0eexample',
  'evil\uff61example',
  'evil\u2024example',
  'ev\u00adil.ex\u200bample',
  'evil.\u2060example',
  'evil\u200b.\u200bexample',
  '\uff48\uff54\uff54\uff50\uff1a\uff0f\uff0fevil',
  'mallory\uff20evil',
  'evil%2eexample',
  'win.пример',
  // Top-level domains of India and of Bangladesh: their second character is a combining mark.
  'win.\u092d\u093e\u0930\u0924',
  'win.\u09ad\u09be\u09b0\u09a4',
  '10.1.2.3 has it',
  'mailto:mallory',
  '=?utf-8?q?evil?=',
];

describe('a name', () => {
  it.each([
    'Ada Lovelace',
    "Miles O'Brien",
    'J.R.R. Tolkien',
    'Dr. No',
    'Zoë Müller-Lüdenscheidt',
    '山田 太郎',
    'Ren\u0065\u0301',
  ])('greets its holder when it is plain: %s', (name) => {
    expect(plainName(name)).toBe(name);
  });

  it.each([...withAddress, '<b>Ada</b>', 'Ada: click', '"Ada" <a>', '', ' ', '- Ada', 'Ada\u{1f600}'])(
    'is left out when it could be more: %s',
    (name) => {
      expect(plainName(name)).toBeUndefined();
    },
  );

  it('is on one line and not longer than 80 characters', () => {
    expect(plainName('Ada\r\nLovelace')).toBe('Ada Lovelace');
    expect([...(plainName('a'.repeat(200)) ?? '')]).toHaveLength(80);
  });
});

describe('a reason', () => {
  it.each(['Ordered twice', 'It cost 19.50 and now 12,99!', 'Too late... sorry (again)', 'Größe 4 & 5 < 6', 'Nr. 5'])(
    'is repeated when it is plain: %s',
    (reason) => {
      expect(plainSentence(reason)).toBe(reason);
    },
  );

  it.each(withAddress)('is left out when a part of it could become a link: %s', (reason) => {
    expect(plainSentence(`Because ${reason}`)).toBeUndefined();
  });

  it('is on one line and not longer than 300 characters', () => {
    expect(plainSentence('one\r\ntwo\u2028three\u202efour')).toBe('one two three four');
    expect([...(plainSentence('word '.repeat(200)) ?? '')].length).toBeLessThanOrEqual(300);
  });
});

/** Prints the decoded display name of `To`, by both policies of Python's e-mail parser. */
const parser = `
import sys, email
from email import policy
from email.header import decode_header, make_header
from email.utils import parseaddr
raw = sys.stdin.buffer.read()
modern = email.message_from_bytes(raw, policy=policy.default)
print(repr(modern['to'].addresses[0].display_name))
print(repr(parseaddr(str(make_header(decode_header(email.message_from_bytes(raw)['to']))))[0]))
`;
const hasPython = spawnSync('python3', ['--version']).status === 0;

it('every e-mail parser reads a display name as it was written', async () => {
  const composer = createTransport({ streamTransport: true, buffer: true });
  for (const name of ['Ada Lovelace', 'Zoë Müller', '=?utf-8?q?evil?=', '=?utf-8?b?ZXZpbA==?= Ada']) {
    const to = { name: plainName(name) ?? '', address: 'ada@example.org' };
    const { message } = await composer.sendMail({ from: 'shop@example.org', to, subject: 'x', text: 'x' });
    const header = /^To: (.*)$/m.exec(String(message))?.[1]?.trim();
    expect(header).toMatch(
      name === 'Zoë Müller' ? /^=\?UTF-8\?Q\?Zo=C3=AB_M=C3=BCller\?= <ada@/ : /^(?:Ada Lovelace <)?ada@/,
    );
    if (!hasPython) continue;
    const printed = execFileSync('python3', ['-c', parser], { input: message as Buffer, encoding: 'utf8' });
    expect(printed).toBe(`'${to.name}'\n'${to.name}'\n`);
  }
});
