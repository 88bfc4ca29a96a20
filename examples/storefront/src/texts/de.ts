// Die deutschen Texte.
import type { Texts } from './en.ts';

export const de: Texts = {
  language: 'de',
  shopName: 'Shop',
  skip: 'Zum Inhalt',
  demo: 'Dies ist eine Vorführung des Shop-Dienstes.',
  demoLinks: { docs: 'Dokumentation', board: 'Übersicht', mail: 'E-Mails', desk: 'Verwaltung' },
  sections: 'Kategorien',
  search: 'Suchen',
  searchProducts: 'Produkte suchen',
  logIn: 'Anmelden',
  account: 'Konto',
  cart: 'Warenkorb',
  cartCount: (count) => `Warenkorb, ${count} Artikel`,
  otherLanguage: 'English',
  toDark: 'Dunkle Farben',
  toLight: 'Helle Farben',
  loading: 'Wird geladen …',
  tryAgain: 'Noch einmal versuchen',
  notFoundTitle: 'Hier ist nichts',
  notFoundText: 'Unter dieser Adresse gibt es keine Seite, oder das Produkt wird nicht mehr verkauft.',
  toHome: 'Zur Startseite',
  offlineTitle: 'Keine Verbindung',
  offlineText: 'Der Shop ist nicht erreichbar. Die Seite wird geladen, sobald Sie wieder online sind.',
  refusedTitle: 'Das hat nicht geklappt',
  requestId: (id) => `Anfrage ${id}`,
};
