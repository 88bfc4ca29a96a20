// The signatures of a message, verified by programs of others.
import { createPublicKey, verify } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { newId, type Secrets } from '@shop/shared/runtime';
import { HTTP } from 'cloudevents';
import { httpbis } from 'http-message-signatures';
import { Webhook } from 'standardwebhooks';
import { type Change, toView } from '../../src/feed/change.ts';
import { signRequest } from '../../src/webhooks/sign-request.ts';
import { openSigningKey, toKeySet } from '../../src/webhooks/signing-keys.ts';

const secrets = ['first-key-first-key-first-key-first-key', 'second-key-second-key-second-key-second'] as const;
const own = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'] as const;
const url = 'https://warehouse.example/shop?from=main';
const change: Change = {
  ...{ position: 1, eventId: newId(), source: '/catalogue', type: 'product.updated.v1', subject: newId() },
  ...{ sequence: 2, previousSequence: 1, happenedAt: new Date(), kind: 'product', resourceId: newId() },
  ...{ accountId: null, isPublic: true, data: { name: 'Lampe für Schüler' } },
};
const message = { id: change.eventId, body: JSON.stringify(toView(change)) };
const sign = (keys: Secrets = secrets, signing: readonly string[] = own) =>
  signRequest(url, message, { secrets: signing, key: openSigningKey(keys) });

/** Verifies the signature of RFC 9421 with the key set that the shop publishes. */
function verifySignature(headers: Record<string, string>, keys: Secrets = secrets, method = 'POST') {
  return httpbis.verifyMessage(
    {
      requiredFields: ['@method', '@target-uri', 'content-type', 'content-digest', 'webhook-id', 'webhook-timestamp'],
      requiredParams: ['created', 'keyid', 'alg'],
      async keyLookup({ keyid }) {
        const jwk = toKeySet(keys).keys.find(({ kid }) => kid === keyid);
        if (jwk === undefined) return null;
        const key = createPublicKey({ key: { ...jwk }, format: 'jwk' });
        return { id: jwk.kid, algs: ['ed25519'], verify: async (data, given) => verify(null, data, key, given) };
      },
    },
    { method, url, headers },
  );
}

it('the package standardwebhooks verifies a message with the secret of the webhook, and during a rotation with both', () => {
  const headers = sign();
  for (const secret of own) expect(new Webhook(secret).verify(message.body, headers)).toEqual(toView(change));
  expect(() => new Webhook(own[1]).verify(message.body, sign(secrets, [own[0]]))).toThrow('No matching signature');
  expect(() => new Webhook(own[0]).verify(`${message.body} `, headers)).toThrow('No matching signature');
});

it('a library of RFC 9421 verifies a message with the published key, also after another key was placed before it', async () => {
  const headers = sign();
  expect(await verifySignature(headers)).toBe(true);
  expect(await verifySignature(headers, ['new-key-new-key-new-key-new-key-new-key', ...secrets])).toBe(true);
  expect(await verifySignature(headers, secrets, 'PUT')).toBe(false);
  for (const name of ['content-digest', 'webhook-id', 'webhook-timestamp', 'content-type']) {
    expect(await verifySignature({ ...headers, [name]: `${headers[name]}0` })).toBe(false);
  }
});

it('the digest is that of the body', async () => {
  const digest = Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(message.body))).toString('base64');
  expect(sign()['content-digest']).toBe(`sha-256=:${digest}:`);
});

it('the package cloudevents reads a message', () => {
  const event = HTTP.toEvent({ headers: sign(), body: message.body });
  expect(event).toMatchObject({
    id: change.eventId,
    type: 'product.updated.v1',
    sequence: '0000000002',
    data: change.data,
  });
});

it('the published keys have no private part', () => {
  const { keys } = toKeySet(secrets);
  expect(keys).toHaveLength(2);
  for (const key of keys) expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
});
