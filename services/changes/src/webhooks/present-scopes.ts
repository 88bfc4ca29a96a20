// The scopes that the owners of webhooks have at present.
import type { InternalClient } from '@shop/shared/http';
import { requestIdentity } from '@shop/shared/http';
import type { Webhook } from './webhook.ts';

/** Returns the scopes with which a webhook is sent: those of its owner, as far as its last change had them. */
export type ScopesOf = (webhook: Pick<Webhook, 'ownerId' | 'scopes'>) => ReadonlySet<string>;

/**
 * Reads the scopes of owners.
 * @throws Problem `service-unavailable` when accounts is unavailable
 */
export type PresentScopes = (ownerIds: readonly string[]) => Promise<ScopesOf>;

/**
 * @param accounts undefined when another identity provider grants the scopes: those of the owner's last token are used
 * then
 */
export function openPresentScopes(accounts: InternalClient | undefined): PresentScopes {
  if (accounts === undefined)
    return async () =>
      ({ scopes }) =>
        new Set(scopes);
  return async (ownerIds) => {
    const callerIds = [...new Set(ownerIds)];
    const { status, body } = await accounts.post('/internal/scopes', { callerIds }, requestIdentity({}));
    if (status !== 200) throw new Error(`accounts answered ${status} to a request for scopes`);
    return toScopesOf((body as { readonly callers: readonly CallerScopes[] }).callers);
  };
}

export interface CallerScopes {
  readonly id: string;
  readonly scopes: readonly string[];
}

/** @param callers that have scopes at present */
export function toScopesOf(callers: readonly CallerScopes[]): ScopesOf {
  const present = new Map(callers.map(({ id, scopes }) => [id, new Set(scopes)]));
  return ({ ownerId, scopes }) => new Set(scopes.filter((scope) => present.get(ownerId)?.has(scope)));
}
