// The normal form by which e-mail addresses are compared.

/**
 * The normal form: NFC, trimmed, lower case. NFC is applied before and after lower-casing, because lower-casing can
 * undo it.
 */
export function emailKey(email: string): string {
  return email.normalize('NFC').trim().toLowerCase().normalize('NFC');
}
