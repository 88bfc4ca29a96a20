// The media type that a client prefers (RFC 9110 section 12.5.1).

/**
 * Returns the offered media type with the highest quality in `Accept`, and of equal ones the first. Undefined when the
 * client accepts none of them. Parameters of media types are ignored.
 * @example preferredType('text/html, *\/*;q=0.8', ['application/json', 'text/html']) // 'text/html'
 */
export function preferredType(accept: string | undefined, offered: readonly string[]): string | undefined {
  const qualities = parseAccept(accept);
  const qualityOf = (type: string): number =>
    qualities.get(type) ?? qualities.get(type.replace(/\/.*/, '/*')) ?? qualities.get('*/*') ?? 0;
  const best = Math.max(...offered.map(qualityOf));
  return best > 0 ? offered.find((type) => qualityOf(type) === best) : undefined;
}

/** Returns the quality of each media range. An absent or empty field accepts everything. */
function parseAccept(accept: string | undefined): ReadonlyMap<string, number> {
  const ranges = (accept?.trim() || '*/*').toLowerCase().split(',');
  return new Map(
    ranges.map((range) => {
      const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
      const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return [name, quality === undefined ? 1 : Number(quality) || 0];
    }),
  );
}
