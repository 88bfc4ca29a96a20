// Whether a client is a browser that wants a page, or a program that wants JSON.

const programTypes: ReadonlySet<string> = new Set([
  'application/json',
  'application/problem+json',
  'application/*',
  '*/*',
]);

/**
 * Returns whether `Accept` (RFC 9110 section 12.5.1) prefers HTML to JSON. Of equal preferences the first one counts. A
 * client that accepts everything is a program.
 */
export function prefersHtml(accept = ''): boolean {
  const ranked = accept
    .split(',')
    .map((range) => {
      const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
      const quality = parameters.find((parameter) => parameter.startsWith('q='));
      return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality);
  return ranked.find(({ type }) => type === 'text/html' || programTypes.has(type))?.type === 'text/html';
}
