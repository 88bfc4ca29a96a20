// The page of an invoice and its credit notes, to read and to print. It is one document without scripts.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Result } from '@shop/shared/http';
import { escapeHtml } from '@shop/shared/runtime';
import { findDecimals, isCountry } from '@shop/shared/shop';
import type { components } from '../generated.ts';
import type { Invoice } from './invoice.ts';
import { type InvoiceLanguage, type InvoiceTexts, invoiceTexts } from './invoice-texts.ts';

const style = readFileSync(new URL('./invoice-page.css', import.meta.url), 'utf8');
/** Only the style of the page is applied, and nothing is loaded. */
const contentPolicy = `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Returns the page. Its entity tag changes with every character of it. */
export function invoicePage(
  { invoice, creditNotes }: components['schemas']['OrderInvoices'],
  language: InvoiceLanguage,
): Result {
  const texts = invoiceTexts[language];
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${texts.invoice} ${escapeHtml(invoice.number)} · ${escapeHtml(invoice.seller.name)}</title>
<style>${style}</style>
</head>
<body>
<main>
${[invoice, ...creditNotes].map((document) => sheet(document, texts, formatsOf(language, document.currency))).join('\n')}
</main>
</body>
</html>
`;
  return {
    status: 200,
    etag: `"${hash('sha256', html, 'base64url')}"`,
    headers: { 'Content-Security-Policy': contentPolicy, 'Content-Language': language },
    html,
  };
}

interface Formats {
  readonly language: InvoiceLanguage;
  money(amount: number): string;
  percent(rate: number): string;
  quantity(units: number): string;
  /** The day in UTC, which is also that of the numbers. */
  day(time: string): string;
  country(code: string): string;
}

function formatsOf(language: InvoiceLanguage, currency: string): Formats {
  const money = new Intl.NumberFormat(language, { style: 'currency', currency });
  const percent = new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 4 });
  const quantity = new Intl.NumberFormat(language);
  const day = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' });
  const countries = new Intl.DisplayNames(language, { type: 'region' });
  return {
    language,
    money: money.format,
    percent: (rate) => percent.format(rate / 100),
    quantity: quantity.format,
    day: (time) => day.format(Date.parse(time)),
    country: (code) => (isCountry(code) ? (countries.of(code) ?? code) : code),
  };
}

function sheet(document: Invoice, texts: InvoiceTexts, formats: Formats): string {
  const { kind, number, seller, buyer, taxExempt, lines } = document;
  const title = kind === 'invoice' ? texts.invoice : texts.creditNote;
  const id = `title-${escapeHtml(number)}`;
  const hasTax = lines.some(({ taxRate }) => taxRate !== undefined);
  return `<article aria-labelledby="${id}">
<header>
<p class="shop">${text(seller.name)}</p>
<h1 id="${id}">${title} <span>${text(number)}</span></h1>
</header>
<div class="parties">
${party(texts.seller, [seller.name, ...(seller.address ?? [])], taxIdLine(seller, texts))}
${buyer === undefined ? '' : party(texts.buyer, addressLines(buyer, formats), taxIdLine(buyer, texts))}
<dl>
${facts(document, texts, formats)}
</dl>
</div>
<table class="lines">
<thead><tr>
<th scope="col">${texts.item}</th><th scope="col">${texts.quantity}</th><th scope="col">${texts.unitPrice}</th>${hasTax ? `<th scope="col">${texts.tax}</th>` : ''}<th scope="col">${texts.amount}</th>
</tr></thead>
<tbody>
${lines.map((line) => lineRow(line, hasTax, texts, formats)).join('\n')}
</tbody>
</table>
<div class="sums">
${taxTable(document, texts, formats)}
${totalTable(document, texts, formats)}
</div>
${taxExempt ? `<p class="note">${texts.reverseCharge}</p>\n` : ''}</article>`;
}

/** Text of the shop or of a customer; its direction does not affect the text around it. */
function text(given: string): string {
  return `<bdi>${escapeHtml(given)}</bdi>`;
}

function party(label: string, lines: readonly string[], end?: string): string {
  const html = [...lines.map(text), ...(end ? [end] : [])];
  return `<section><h2>${label}</h2>\n<address>${html.join('<br>\n')}</address></section>`;
}

function taxIdLine({ taxId }: { readonly taxId?: string }, texts: InvoiceTexts): string | undefined {
  return taxId && `${texts.taxId}: ${text(taxId)}`;
}

function addressLines({ name, address = {} }: NonNullable<Invoice['buyer']>, formats: Formats): string[] {
  const { recipient, street_address, city, region, postal_code, country } = address;
  const place = [postal_code, city].filter((part) => part !== undefined).join(' ');
  const lines = [name, recipient === name ? undefined : recipient, street_address, place, region];
  return [...lines, country && formats.country(country)].flatMap((line) => line || []);
}

function facts(document: Invoice, texts: InvoiceTexts, { day }: Formats): string {
  const { kind, issuedAt, invoiceNumber, orderId, orderedAt } = document;
  const rows = [
    [texts.date, day(issuedAt)],
    // The invoice is issued when the parcel is handed over.
    ...(kind === 'invoice' ? [[texts.shipped, day(issuedAt)]] : []),
    ...(invoiceNumber === undefined ? [] : [[texts.ofInvoice, text(invoiceNumber)]]),
    [texts.ordered, day(orderedAt)],
    [texts.order, `<span class="id">${escapeHtml(orderId)}</span>`],
  ];
  return rows.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join('\n');
}

function lineRow(
  { name, quantity, unitPrice, taxRate, lineTotal }: Invoice['lines'][number],
  hasTax: boolean,
  texts: InvoiceTexts,
  formats: Formats,
): string {
  const cell = (label: string, value: string): string => `<td data-label="${escapeHtml(label)}">${value}</td>`;
  return `<tr><th scope="row">${text(name)}</th>${cell(texts.quantity, formats.quantity(quantity))}${cell(texts.unitPrice, formats.money(unitPrice))}${
    hasTax ? cell(texts.tax, taxRate === undefined ? '–' : formats.percent(taxRate)) : ''
  }${cell(texts.amount, formats.money(lineTotal))}</tr>`;
}

function taxTable({ taxes = [] }: Invoice, texts: InvoiceTexts, { money, percent }: Formats): string {
  if (taxes.length === 0) return '';
  const rows = taxes.map(({ name, rate, base, amount }) => {
    return `<tr><th scope="row">${text(name)} ${percent(rate)}</th><td>${money(base)}</td><td>${money(amount)}</td></tr>`;
  });
  return `<table class="taxes"><caption>${texts.taxes}</caption>
<thead><tr><th scope="col">${texts.tax}</th><th scope="col">${texts.net}</th><th scope="col">${texts.amount}</th></tr></thead>
<tbody>
${rows.join('\n')}
</tbody></table>`;
}

function totalTable(document: Invoice, texts: InvoiceTexts, { language, money, percent }: Formats): string {
  const { kind, lines, currency, shipping, discounts = [], taxTotal, pricesIncludeTax, taxExemption, total } = document;
  const unit = 10 ** findDecimals(currency);
  const subtotal = lines.reduce((sum, { lineTotal }) => sum + Math.round(lineTotal * unit), 0) / unit;
  const rows = discounts.map(({ name, code, amount }) => [
    `${text(name)}${code === undefined ? '' : ` (${text(code)})`}`,
    money(-amount),
  ]);
  if (shipping !== undefined) {
    const name = shipping.name[language] ?? Object.values(shipping.name)[0] ?? '';
    const rate = shipping.taxRate === undefined ? '' : `, ${texts.tax} ${percent(shipping.taxRate)}`;
    rows.unshift([`${texts.shipping}: ${text(name)}${rate}`, money(shipping.price)]);
  }
  if (taxExemption !== undefined) rows.push([texts.withoutTax, money(-taxExemption)]);
  if (taxTotal !== undefined && pricesIncludeTax === false) rows.push([texts.tax, money(taxTotal)]);
  if (rows.length > 0) rows.unshift([texts.subtotal, money(subtotal)]);
  const rowOf = ([name, amount]: readonly string[]): string =>
    `<tr><th scope="row">${name}</th><td>${amount}</td></tr>`;
  return `<table class="total">
<tbody>
${rows.map(rowOf).join('\n')}
</tbody>
<tfoot>${rowOf([kind === 'invoice' ? texts.total : texts.credited, money(total)])}</tfoot>
</table>`;
}
