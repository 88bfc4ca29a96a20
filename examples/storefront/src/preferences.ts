// What the visitor has chosen: language and theme. Both are kept in the browser.
import { type Language, languages, setLanguage } from './texts.ts';

export type Theme = 'light' | 'dark';

/** Applies the choices of an earlier visit. Without one, those of the browser apply. */
export function applyPreferences(): void {
  const theme = stored('theme');
  if (theme !== undefined) document.documentElement.dataset.theme = theme;
  const wanted = [stored('language'), ...navigator.languages.map((each) => each.slice(0, 2))];
  applyLanguage(
    languages.find((each) => each === wanted.find((name) => languages.some((one) => one === name))) ?? 'en',
  );
}

export function chooseLanguage(language: Language): void {
  store('language', language);
  applyLanguage(language);
}

export function shownTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export function chooseTheme(theme: Theme): void {
  store('theme', theme);
  document.documentElement.dataset.theme = theme;
}

function applyLanguage(language: Language): void {
  setLanguage(language);
  document.documentElement.lang = language;
}

function stored(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined; // The browser keeps no data for this page.
  }
}

function store(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice lasts as long as the page.
  }
}
