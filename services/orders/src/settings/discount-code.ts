// Codes of discounts are compared without regard to case and blanks.

/** Returns the form in which two codes are compared. */
export function toComparedCode(code: string): string {
  return code.replace(/\s+/gu, '').normalize('NFC').toUpperCase().normalize('NFC');
}
