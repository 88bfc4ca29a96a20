// The texts in the language of the visitor.
import { de } from './texts/de.ts';
import { en, type Texts } from './texts/en.ts';

const all = { en, de };

export type Language = keyof typeof all;
export const languages: readonly Language[] = ['en', 'de'];

/** The texts of the present language: `t.addToCart`. */
export const t: Texts = { ...en };

/** Changes the texts. Elements that exist keep theirs, so the page has to be shown again. */
export function setLanguage(language: Language): void {
  Object.assign(t, all[language]);
}
