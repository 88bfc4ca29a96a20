// Creates forged access tokens that must be refused. Each is named after its trick.
import { claims, duplicates } from './claim-tricks.ts';
import type { Genuine } from './genuine.ts';
import { algorithms, embeddedKeys, headers, keyIds } from './header-tricks.ts';
import { signatures, spellings } from './signature-tricks.ts';

export { type Genuine, goodClaims, goodHeader, signed } from './genuine.ts';

export interface Forgery {
  readonly trick: string;
  /** The whole value of the Authorization header. */
  readonly authorization: string;
}

/** Every forgery. A token that the genuine key signs is wrong in another way. */
export function forge(genuine: Genuine): Forgery[] {
  return [
    ...algorithms(genuine),
    ...embeddedKeys(genuine),
    ...keyIds(genuine),
    ...headers(genuine),
    ...duplicates(genuine),
    ...claims(genuine),
    ...signatures(genuine),
    ...spellings(genuine),
  ].map(([trick, token]) => ({ trick, authorization: token.includes(' ') ? token : `Bearer ${token}` }));
}
