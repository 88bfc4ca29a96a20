// The error of a request that got no response.

/**
 * Returns the error of `fetch` with the address and the reason. In a page of another origin, the message adds a cause
 * that browsers conceal: the shop may not allow the origin. It is a TypeError, and the error of `fetch` is its `cause`.
 */
export function connectionError({ method, url }: Request, cause: Error): TypeError {
  const [address] = url.split('?', 1);
  const hint = corsHint(new URL(url).origin);
  return new TypeError(`${method} ${address} got no response: ${reasonOf(cause)}${hint}`, { cause });
}

/** Returns the reason of a failure. Node.js stores it in the cause of its "fetch failed". */
function reasonOf({ message, cause }: Error): string {
  const { message: inner = '', code = '' } = (cause ?? {}) as { readonly message?: string; readonly code?: string };
  // A host with several addresses has a reason without a message.
  const detail = inner || code;
  return detail === '' ? message : `${message} (${detail})`;
}

function corsHint(origin: string): string {
  const page = (globalThis as { readonly location?: { readonly origin?: string } }).location?.origin;
  if (page === undefined || page === origin) return '';
  return `. Either the shop cannot be reached, or it does not allow pages of ${page}: CORS_ORIGINS of its gateway lists the origins that it allows`;
}
