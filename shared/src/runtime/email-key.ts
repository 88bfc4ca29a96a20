// When two e-mail addresses are the same.

/** The form that is unique and compared: NFC, trimmed, lower case. Mapping to lower case may undo NFC, so it comes first and last. */
export function emailKey(email: string): string {
  return email.normalize('NFC').trim().toLowerCase().normalize('NFC');
}
