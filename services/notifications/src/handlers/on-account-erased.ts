// account.erased.v1: begins to erase the address of the account and the content of its e-mails.
import type { Transaction } from '@shop/shared/database';
import type { ShopEvent } from '@shop/shared/events';
import { recordErasure } from '@shop/shared/service';

export function onAccountErased({ data }: ShopEvent<'account.erased.v1'>, tx: Transaction): Promise<void> {
  return recordErasure(tx, data.accountId);
}
