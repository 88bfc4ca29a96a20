// The HTTP server of the receiver. It answers 204 as soon as a message is stored, and 4xx for one that is not of the shop.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { type Change, KnownChanges } from './changes.ts';

/** The largest body that is read. */
const mostBytes = 256 * 1024;

/** @param show is called with a line for each message */
export function createReceiver(secret: string, show: (line: string) => void): Server {
  const webhook = new Webhook(secret);
  const known = new KnownChanges();

  const receive = async (request: IncomingMessage): Promise<number> => {
    if (request.method !== 'POST') return 405;
    const body = await readBody(request);
    if (body === undefined) return 413;
    const digest = `sha-256=:${createHash('sha256').update(body).digest('base64')}:`;
    if (request.headers['content-digest'] !== digest) return 400;
    let message: unknown;
    try {
      // Checks the secret, and that the message is at most 5 minutes old.
      message = webhook.verify(body, request.headers as Record<string, string>);
    } catch (error) {
      if (error instanceof WebhookVerificationError) return 401;
      throw error;
    }
    handle(message as Change);
    return 204;
  };

  const handle = (change: Change): void => {
    const { type, subject, sequence, resource } = change;
    if (type === 'webhook.ping.v1') {
      show('ping');
    } else if (type === 'webhook.reset.v1') {
      known.reset();
      show('reset: read the lists again');
    } else {
      // The change says that the resource is another one now. A real receiver reads it again at this address.
      show(`${known.add(change)} ${type} ${subject} ${Number(sequence)} ${resource}`);
    }
  };

  return createServer((request, response) => {
    receive(request).then(
      (status) => {
        response.writeHead(status).end();
      },
      (error: unknown) => {
        show(`failed: ${error}`);
        // The shop sends the message again.
        response.writeHead(500).end();
      },
    );
  });
}

/** Returns the body as it was sent: the signature covers its bytes. Undefined for one that is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > mostBytes) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
