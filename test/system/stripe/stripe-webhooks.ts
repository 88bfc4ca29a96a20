// The webhooks of the stand-in for Stripe: events with signatures, which are sent again until they are accepted.
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';

/** The part of the package that this file uses. The package is installed when the tests run. */
interface Signing {
  readonly webhooks: { generateTestHeaderString(of: { payload: string; secret: string }): string };
}
const stripe = createRequire(new URL('../../../examples/stripe/', import.meta.url))('stripe') as Signing;
const { WEBHOOK_URL = '', WEBHOOK_SECRET = '' } = process.env;

const webhookFaults = ['none', 'late', 'twice', 'out-of-order', 'silent'] as const;
export type WebhookFault = (typeof webhookFaults)[number];

/** How often the webhook answered with each status. */
export const answers: Record<string, number> = {};
const overtaken: [type: string, object: object][] = [];
let events = 0;

/** Returns the fault of the next event that no test selects. */
export function nextFault(): WebhookFault {
  return webhookFaults[events % webhookFaults.length] ?? 'none';
}

/** Sends an event once. @returns the status */
export async function send(type: string, object: object): Promise<number> {
  const event = {
    id: `evt_${++events}`,
    object: 'event',
    type,
    created: Math.floor(Date.now() / 1_000),
    data: { object },
  };
  const payload = JSON.stringify(event);
  const signature = stripe.webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET });
  const headers = { 'Content-Type': 'application/json', 'Stripe-Signature': signature };
  const { status } = await fetch(WEBHOOK_URL, { method: 'POST', body: payload, headers });
  answers[status] = (answers[status] ?? 0) + 1;
  return status;
}

/** Sends an event again and again until it is accepted. Stripe does so for three days. */
async function notify(type: string, object: object): Promise<void> {
  const snapshot = structuredClone(object);
  for (let pause = 100; ; pause = Math.min(pause * 2, 1_000)) {
    const status = await send(type, snapshot).catch(() => 0);
    if (status >= 200 && status < 300) return;
    await sleep(pause);
  }
}

/** Sends an event with the state that the object has now. */
export async function notifyWith(fault: WebhookFault, type: string, object: object): Promise<void> {
  const snapshot = structuredClone(object);
  if (fault === 'silent' || WEBHOOK_URL === '') return;
  if (fault === 'out-of-order' && overtaken.length < 5) {
    overtaken.push([type, snapshot]);
    return;
  }
  if (fault === 'late') await sleep(1_500);
  await Promise.all(fault === 'twice' ? [notify(type, snapshot), notify(type, snapshot)] : [notify(type, snapshot)]);
  await Promise.all(
    overtaken
      .splice(0)
      .toReversed()
      .map(([kind, one]) => notify(kind, one)),
  );
}
