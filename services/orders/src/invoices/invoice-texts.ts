// The texts of the page of an invoice, by language.
import type { OperationRequest } from '@shop/shared/http';

const english = {
  invoice: 'Invoice',
  creditNote: 'Credit note',
  number: 'Number',
  date: 'Date',
  /** Of the goods: the day on which the parcel was handed over. */
  shipped: 'Shipped',
  ofInvoice: 'For invoice',
  order: 'Order',
  ordered: 'Ordered',
  seller: 'Seller',
  buyer: 'Billed to',
  taxId: 'Tax ID',
  item: 'Item',
  quantity: 'Quantity',
  unitPrice: 'Unit price',
  tax: 'Tax',
  amount: 'Amount',
  subtotal: 'Subtotal',
  shipping: 'Shipping',
  withoutTax: 'Tax not charged',
  total: 'Total',
  credited: 'Total credit',
  taxes: 'Taxes included in the total',
  net: 'Net amount',
  reverseCharge: 'Reverse charge: the customer owes the tax.',
};

export type InvoiceTexts = Readonly<Record<keyof typeof english, string>>;

const german: InvoiceTexts = {
  invoice: 'Rechnung',
  creditNote: 'Gutschrift',
  number: 'Nummer',
  date: 'Datum',
  shipped: 'Lieferdatum',
  ofInvoice: 'Zur Rechnung',
  order: 'Bestellung',
  ordered: 'Bestellt am',
  seller: 'Verkäufer',
  buyer: 'Rechnung an',
  taxId: 'USt-IdNr./St.-Nr.',
  item: 'Artikel',
  quantity: 'Menge',
  unitPrice: 'Einzelpreis',
  tax: 'Steuer',
  amount: 'Betrag',
  subtotal: 'Zwischensumme',
  shipping: 'Versand',
  withoutTax: 'Nicht berechnete Steuer',
  total: 'Gesamtbetrag',
  credited: 'Gutschriftbetrag',
  taxes: 'Im Gesamtbetrag enthaltene Steuern',
  net: 'Nettobetrag',
  reverseCharge: 'Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).',
};

const french: InvoiceTexts = {
  invoice: 'Facture',
  creditNote: 'Avoir',
  number: 'Numéro',
  date: 'Date',
  shipped: 'Date de livraison',
  ofInvoice: 'Sur la facture',
  order: 'Commande',
  ordered: 'Commandé le',
  seller: 'Vendeur',
  buyer: 'Facturé à',
  taxId: 'N° d’identification fiscale',
  item: 'Article',
  quantity: 'Quantité',
  unitPrice: 'Prix unitaire',
  tax: 'Taxe',
  amount: 'Montant',
  subtotal: 'Sous-total',
  shipping: 'Livraison',
  withoutTax: 'Taxe non facturée',
  total: 'Total',
  credited: 'Total de l’avoir',
  taxes: 'Taxes comprises dans le total',
  net: 'Montant hors taxe',
  reverseCharge: 'Autoliquidation : la taxe est due par le client.',
};

export const invoiceTexts = { en: english, de: german, fr: french };

export type InvoiceLanguage = keyof typeof invoiceTexts;

const languages = Object.keys(invoiceTexts) as InvoiceLanguage[];

/** Returns the language of the page for a client; English without a better one. */
export function findLanguage(request: Pick<OperationRequest, 'preferredLanguage'>): InvoiceLanguage {
  const preferred = request.preferredLanguage(languages);
  return languages.find((language) => language === preferred) ?? 'en';
}
