// The texts in the language of the visitor.
import { de } from './texts/de.ts';
import { en } from './texts/en.ts';

const all = { en, de };

export type Language = keyof typeof all;
export const languages: readonly Language[] = ['en', 'de'];

/** The texts of the present language: `t.addToCart`. Pages of customers have more in `texts/customers.ts`. */
export const t = { ...en };

/** Changes the texts. Elements that exist keep theirs, so the page has to be shown again. */
export function setLanguage(language: Language): void {
  Object.assign(t, all[language]);
}

/** Adds the texts of pages that are loaded later, and returns all of the present language for them. */
export function addTexts<More extends object>(more: Readonly<Record<Language, More>>): typeof t & More {
  for (const language of languages) Object.assign(all[language], more[language]);
  return Object.assign(t, more[t.language === 'de' ? 'de' : 'en']);
}
