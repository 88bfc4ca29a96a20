// Numbers and times in the language of the visitor.
import { t } from './texts.ts';

export function money(amount: number, currency: string): string {
  return new Intl.NumberFormat(t.language, { style: 'currency', currency }).format(amount);
}

export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat(t.language, { minimumFractionDigits: digits, maximumFractionDigits: 3 }).format(value);
}

export function date(time: string): string {
  return new Intl.DateTimeFormat(t.language, { dateStyle: 'long' }).format(new Date(time));
}

export function dateAndTime(time: string): string {
  return new Intl.DateTimeFormat(t.language, { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(time));
}
