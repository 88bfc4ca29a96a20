// The headers of a message: Standard Webhooks, and a signature of RFC 9421 that covers the digest of the body (RFC 9530).
import { createHash, createHmac } from 'node:crypto';
import type { SigningKey } from './signing-keys.ts';

export interface Message {
  /** The same for every attempt. */
  readonly id: string;
  /** A CloudEvent in the JSON format. */
  readonly body: string;
}

export interface Signers {
  /** Secrets of Standard Webhooks: `whsec_` and Base64. After a rotation the previous one signs, too. */
  readonly secrets: readonly string[];
  readonly key: SigningKey;
}

const contentType = 'application/cloudevents+json';
const covered = ['@method', '@target-uri', 'content-type', 'content-digest', 'webhook-id', 'webhook-timestamp'];

/** Returns the headers of one attempt to send the message by POST. */
export function signRequest(
  url: string,
  { id, body }: Message,
  { secrets, key }: Signers,
  now = new Date(),
): Record<string, string> {
  const created = Math.floor(now.getTime() / 1000);
  const fields = {
    'content-type': contentType,
    'content-digest': `sha-256=:${createHash('sha256').update(body).digest('base64')}:`,
    'webhook-id': id,
    'webhook-timestamp': String(created),
  };
  const values: Readonly<Record<string, string>> = { '@method': 'POST', '@target-uri': new URL(url).href, ...fields };
  const components = covered.map((name) => `"${name}"`).join(' ');
  const parameters = `(${components});created=${created};keyid="${key.id}";alg="ed25519"`;
  const base = [...covered.map((name) => `"${name}": ${values[name]}`), `"@signature-params": ${parameters}`].join(
    '\n',
  );
  return {
    ...fields,
    'webhook-signature': secrets.map((secret) => `v1,${hmac(secret, `${id}.${created}.${body}`)}`).join(' '),
    'signature-input': `shop=${parameters}`,
    signature: `shop=:${key.sign(base)}:`,
  };
}

const hmac = (secret: string, text: string): string =>
  createHmac('sha256', Buffer.from(secret.replace(/^whsec_/, ''), 'base64'))
    .update(text)
    .digest('base64');
