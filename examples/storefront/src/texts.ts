// The texts in the language of the visitor.
import { de } from './texts/de.ts';
import { en, type Texts } from './texts/en.ts';

const all = { en, de };

export type Language = keyof typeof all;
export const languages: readonly Language[] = ['en', 'de'];

/** The texts of the present language: `t.addToCart`. Those of pages that are loaded later come with them. */
export const t = { ...en } as Texts;

/** Changes the texts. Elements that exist keep theirs, so the page has to be shown again. */
export function setLanguage(language: Language): void {
  Object.assign(t, all[language]);
}

/** Adds the texts of pages that are loaded later. */
export function addTexts(more: Readonly<Record<Language, Partial<Texts>>>): void {
  for (const language of languages) Object.assign(all[language], more[language]);
  Object.assign(t, more[t.language === 'de' ? 'de' : 'en']);
}
