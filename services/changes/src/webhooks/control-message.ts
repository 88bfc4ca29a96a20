// The messages that are no changes: the ping of an endpoint, and the reset of a webhook whose changes are no longer kept.
import { createHash } from 'node:crypto';
import { newId } from '@shop/shared/runtime';
import type { Message } from './sign-request.ts';
import type { Webhook } from './webhook.ts';

/** Returns a CloudEvent about the webhook. Each ping is a new message. */
export function pingOf({ id }: Webhook): Message {
  return message(newId(), 'webhook.ping.v1', id);
}

/** Returns the message after which the receiver reads its lists again. Its id is the same over retries. */
export function resetOf({ id, epoch, position }: Webhook): Message {
  const hash = createHash('sha256').update(`reset ${id} ${epoch} ${position}`).digest();
  // RFC 9562 section 5.8: version 8 has bits of our own choice.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const uuid = hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return message(uuid, 'webhook.reset.v1', id);
}

function message(id: string, type: string, subject: string): Message {
  const event = { specversion: '1.0', id, source: '/changes', type, subject, time: new Date().toISOString() };
  return { id, body: JSON.stringify(event) };
}
