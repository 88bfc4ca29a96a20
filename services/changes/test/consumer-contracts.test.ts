// The recordings that the consumers of changes keep agree with the real process.
import { afterAll, beforeAll, expect } from '@jest/globals';
import { eventually, type ProviderStates } from '@shop/shared/testing';
import { consumerContractsSuite } from '@shop/shared/testing/consumer-contracts';
import { type SendingShop, startSendingShop } from './webhooks/sending-shop.ts';

let shop: SendingShop;
beforeAll(async () => {
  shop = await startSendingShop();
});
afterAll(() => shop?.stop());

const states: ProviderStates = {
  async 'the account has a webhook'() {
    const { id, ownerId } = await shop.add('https://warehouse.example/shop', { isPinged: false });
    return { account: ownerId, webhook: id };
  },
  async 'the endpoint of a webhook of Ada has failed for an hour'() {
    const receiver = await shop.receiver();
    const { id, ownerId } = await shop.add(receiver.url);
    receiver.answer(() => 500);
    await shop.create(1);
    await eventually(async () => expect(await shop.parkedOf(id)).toBe(1));
    await shop.services
      .service('changes')
      .database.query("UPDATE webhooks SET failing_since = now() - interval '61 minutes' WHERE id = $1", [id]);
    await shop.hurry(id);
    return { account: ownerId, webhook: id };
  },
};

consumerContractsSuite('changes', states, () => shop.services);
