// The forms in which generated texts become parts of an HTTP request.

/** A text in a path or a query. A lone surrogate becomes U+FFFD, because it has no encoding. */
export function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The part of a text that an HTTP client can send in a header field. */
export function sendable(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '');
}
