// The texts of e-mails in each language, and the errors for an operator's wrong files.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { StartError } from '@shop/shared/runtime';
import { composeEmail } from '../src/email/email.ts';
import { kinds, type Occasion } from '../src/email/notification.ts';
import { readTemplates } from '../src/email/templates.ts';
import { occasions, senderWith } from './occasions.ts';

const shipped = fileURLToPath(new URL('../templates', import.meta.url));
const languages = ['en', 'de', 'fr'];
const templates = readTemplates(shipped, 'en');

const compose = (locale: string | null, occasion: Occasion) =>
  composeEmail(senderWith(templates), { email: 'a@example.org', name: 'Ada', locale }, occasion);

describe.each(languages)('the e-mails in %s', (language) => {
  it.each(kinds)('the e-mails have a %s with every value that the English one has', (kind) => {
    for (const occasion of occasions.filter((each) => each.kind === kind)) {
      const [own, english] = [compose(language, occasion), compose('en', occasion)];
      expect(own.html).toContain(`<html lang="${language}">`);
      expect(own.text.split('\n\n')).toHaveLength(english.text.split('\n\n').length);
      const values = (text: string) =>
        text.match(/https:\S+|[0-9a-f-]{36}|\d+[.,]\d\d\b|POST [/a-z0-9-]+|token-[a-z]+/g) ?? [];
      expect(values(own.text).map((value) => value.replace(/,/, '.'))).toEqual(values(english.text));
      expect(own.text + own.html).not.toMatch(/\{\w+\}/);
      if (language !== 'en') expect(own.subject).not.toBe(english.subject);
    }
  });
});

describe('the language of an e-mail', () => {
  const [received] = occasions;
  it.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['fr-CH', 'fr'],
    ['de-Latn-DE', 'de'],
    ['pt-BR', 'en'],
    [null, 'en'],
  ])('an e-mail in the locale %s has the language %s', (locale, language) => {
    if (received === undefined) throw new Error('there is an order received');
    expect(compose(locale, received).html).toContain(`<html lang="${language}">`);
  });

  it('the language of an e-mail decides how amounts and times are written', () => {
    const texts = occasions.map((occasion) => compose('de', occasion).text).join('\n');
    expect(texts).toContain('Summe          160,48 EUR');
    expect(texts).toContain('am 21. November 2026 um 03:05 UTC geändert');
  });
});

describe('a file of the operator', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shop-templates-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(() => cp(shipped, folder, { recursive: true, force: true }));

  const change = async (file: string, from: string | RegExp, to: string): Promise<void> => {
    const text = await readFile(join(folder, file), 'utf8');
    expect(text).toMatch(from);
    await writeFile(join(folder, file), text.replace(from, to));
  };

  it('a file of the operator without e-mails about returns has those of the shop in its language', async () => {
    await change('de.yaml', / {2}order-return-requested:.*?(?= {2}email-changed:)/s, '');
    await cp(join(folder, 'de.yaml'), join(folder, 'it.yaml'));
    const own = readTemplates(folder, 'de');
    const refused = occasions.find(({ kind }) => kind === 'order-return-refused');
    if (refused === undefined) throw new Error('there is a refused return');
    const subjectIn = (locale: string) =>
      composeEmail(senderWith(own), { email: 'a@example.org', name: 'Ada', locale }, refused).subject;
    expect(subjectIn('de')).toBe('Wir können die Artikel nicht zurücknehmen');
    expect(subjectIn('it')).toBe('We cannot take the products back');
    await rm(join(folder, 'it.yaml'));
  });

  it('a file of the operator changes a text', async () => {
    await change('de.yaml', 'Ihre Bestellung ist unterwegs', 'Ihr Paket kommt');
    const shippedOrder = occasions.find(({ kind }) => kind === 'order-shipped');
    if (shippedOrder === undefined) throw new Error('there is an order shipped');
    const recipient = { email: 'a@example.org', name: 'Ada', locale: 'de' };
    expect(composeEmail(senderWith(readTemplates(folder, 'de')), recipient, shippedOrder).subject).toBe(
      'Ihr Paket kommt',
    );
  });

  it.each([
    ['lacks a text', 'de.yaml', 'total: Summe', 'total: ""', 'de.yaml lacks the text labels.total'],
    ['lacks an e-mail', 'fr.yaml', '  password-reset:', '  other:', 'lacks the text emails.password-reset.subject'],
    [
      'has a text that nothing uses',
      'fr.yaml',
      'labels:',
      'footer: Merci\nlabels:',
      'has footer, which no e-mail uses',
    ],
    [
      'uses a value that the e-mail does not have',
      'en.yaml',
      'Reason: {reason}',
      'Reason: {cause}',
      /emails\.order-cancelled\.body of .*en\.yaml uses \{cause\}; it may use \{orderId\}, \{cancelledBy\}, \{reason\}, \{refund\}$/,
    ],
    [
      'uses a value in a subject',
      'en.yaml',
      'subject: Your order is on its way',
      'subject: Order {orderId} is on its way',
      /emails\.order-shipped\.subject of .*en\.yaml uses \{orderId\}; it may use none$/,
    ],
    [
      'uses a value in a label',
      'de.yaml',
      'total: Summe',
      'total: "Summe {amount}"',
      /labels\.total of .* uses \{amount\}/,
    ],
    [
      'has a paragraph that the e-mail never has',
      'en.yaml',
      '{tracking}',
      '{token}',
      /emails\.order-shipped\.body of .*en\.yaml has the paragraph \{token\}; it may use \{lines\}, /,
    ],
    [
      'uses a value in the label of a link',
      'en.yaml',
      'Follow the parcel',
      'Follow {orderId}',
      /uses \{orderId\}; it may use none$/,
    ],
    [
      'has a text behind a table',
      'en.yaml',
      '{tracking}',
      '{tracking} Hello',
      /has "Hello" behind \{tracking\}; only \{link\} has a label$/,
    ],
    ['is no ICU message', 'en.yaml', 'Hello {name},', 'Hello {name,', /greeting of .* is no ICU message/],
    ['is no YAML', 'en.yaml', 'labels:', 'labels: [', /en\.yaml is not valid YAML/],
    ['lacks the place of the content', 'layout.html', '{content}', '', /layout\.html must contain \{content\}$/],
  ])('a file of the operator that %s is rejected with its place', async (_, file, from, to, message) => {
    await change(file, from, to);
    const read = () => readTemplates(folder, 'en');
    expect(read).toThrow(StartError);
    expect(read).toThrow(message);
  });

  it('a file of the operator from release 1.1 has English labels of shipping and of taxes', async () => {
    await change('de.yaml', / {2}shipping: [\s\S]*(?=emails:)/, '');
    expect(readTemplates(folder, 'en').textsFor('de').labels).toMatchObject({
      total: 'Summe',
      shipping: 'Shipping',
      including: 'Including',
      reverseCharge: 'Reverse charge: you owe the tax',
    });
  });

  it('a file of the operator has to exist in the language of the shop', () => {
    expect(() => readTemplates(folder, 'pt')).toThrow(
      'has no e-mails in the language of the shop (EMAIL_LANGUAGE), pt.yaml',
    );
    expect(() => readTemplates(join(folder, 'none'), 'en')).toThrow(/cannot read .*layout\.html \(ENOENT\)/);
  });
});
