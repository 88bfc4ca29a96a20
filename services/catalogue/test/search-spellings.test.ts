// `q` of GET /v1/products: spellings of a word that find the same products.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startServices, type TestServices } from '@shop/shared/testing';
import { addProducts } from './products.ts';

/** Spellings that find the same products, whichever of them the name of a product has. */
const same: readonly (readonly [title: string, ...spellings: string[]])[] = [
  ['a number and its unit', 'milk 500 ml', 'Milk 500ml', 'MILK, 500-ML', 'milk (500 mL)'],
  ['letters and a number', 'vitamin b 12', 'Vitamin B12', 'vitamin B-12'],
  ['a name and its number', 'phone15', 'Phone 15'],
  ['several numbers and letters', 'tray 10x15cm', 'Tray 10 x 15 cm', 'tray 10 x 15cm'],
  ['a model between words', 'ps5pro stand', 'PS5 Pro Stand', 'PS 5 pro stand'],
  ['a decimal number and its unit', 'juice 1.5l', 'Juice 1.5 L'],
  ['an ending behind a number', 'toner 12packs', 'Toner 12 pack', 'toner 12pack'],
  ['a unit with an exponent', 'tent 4m²', 'Tent 4 m2'],
  ['a unit in Greek letters', 'capsule 50µg', 'Capsule 50 μg'],
  ['a unit in Cyrillic letters', 'сок 500мл', 'Сок 500 мл'],
  ['a number in Chinese text', '牛奶500毫升', '牛奶 500 毫升'],
  ['the digits of Arabic', 'حليب ٥٠٠ مل', 'حليب 500مل'],
  ['the digits of Hindi', 'दूध ५००', 'दूध 500'],
  ['the vowel marks of Arabic', 'كِتَابٌ', 'كتاب', 'كتــاب'],
  ['alef with and without hamza', 'أحمر إبريق', 'احمر ابريق', 'أَحْمَر إِبْرِيق'],
  ['the vowel marks of Hebrew', 'שָׁלוֹם', 'שלום', 'שׁלום'],
  ['the vowel marks of Syriac', 'ܡܰܠܟܳܐ', 'ܡܠܟܐ'],
  ['stress in Cyrillic letters', 'за́мок', 'замок'],
  ['nukta in Hindi', 'ज़मीन', 'जमीन'],
  ['capital letters with accents', 'ÜBERGANG', 'übergang', 'ubergang'],
  ['a capital letter that is longer in small letters', 'İzmir', 'izmir', 'IZMIR'],
  ['capital Greek letters with a final sigma', 'ΔΡΟΜΟΣ', 'δρόμος'],
  ['capital letters of Armenian', 'ԵՐԵՎԱՆ', 'երեվան'],
  ['a letter with a stroke and an accent', 'ǿre', 'ore'],
  ['accents of Vietnamese', 'Đường phèn', 'duong phen'],
  ['a soft hyphen', 'waschma\u00adschine', 'Waschmaschine'],
  ['a joiner in Persian', 'می\u200cخواهم', 'میخواهم'],
];

/** Words that differ in a mark that is a letter of its own. */
const different: readonly (readonly [title: string, one: string, other: string])[] = [
  ['vowel signs of Hindi', 'किला', 'कला'],
  ['vowel signs of Tamil', 'கோவை', 'கவை'],
  ['й and и', 'йод', 'иод'],
  ['ґ and г in Ukrainian', 'ґрати', 'грати'],
  ['tone marks of Thai', 'ก้า', 'กา'],
  ['voiced sounds of Japanese', 'ガラス', 'カラス'],
  ['the numbers of two sizes', 'a4 paper', 'a5 paper'],
  ['a number and letters that are not beside each other', 'a4 card', 'a pack of 4 card'],
];

let services: TestServices;

beforeAll(async () => {
  services = await startServices(['catalogue'], { shared: false });
  const names = [...same, ...different].flatMap(([, ...spellings]) => spellings);
  await addProducts(
    services,
    names.map((name) => ({ name })),
  );
});

afterAll(() => services.stop());

/** Returns the names of the products that a search finds. */
const found = async (q: string): Promise<string[]> => {
  const { body } = await services.service('catalogue').client.get(`/v1/products?q=${encodeURIComponent(q)}&limit=100`);
  return body.items.map(({ name }) => name);
};

describe('a search', () => {
  it.each(same)('a search makes no difference in %s', async (_what, ...spellings) => {
    for (const spelling of spellings) {
      expect([spelling, (await found(spelling)).sort()]).toEqual([spelling, spellings.toSorted()]);
    }
  });

  it.each(different)('a search distinguishes %s', async (_what, one, other) => {
    expect(await found(one)).toEqual([one]);
    expect(await found(other)).toEqual([other]);
  });
});
