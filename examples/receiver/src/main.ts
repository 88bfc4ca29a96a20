// Starts the receiver: WEBHOOK_SECRET is the secret of the webhook, PORT its port on this machine.
import { createReceiver } from './server.ts';

const { WEBHOOK_SECRET = '', PORT = '9000' } = process.env;
if (!WEBHOOK_SECRET.startsWith('whsec_')) {
  console.error('WEBHOOK_SECRET must be the secret of the webhook, which begins with whsec_');
  process.exit(1);
}
const server = createReceiver(WEBHOOK_SECRET, (line) => console.log(line));
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening at http://127.0.0.1:${PORT}/`));
process.once('SIGTERM', () => server.close());
