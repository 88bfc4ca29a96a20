// The minimal gateway in Node that handles slow senders: it forwards a request after all of it has arrived, within ten
// seconds. The bare gateway would open a connection to the service for each slow sender and have none left for other
// requests.
import { Agent, request as ask, createServer } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 128 });
const port = Number(process.env.SERVICE_PORT);
/** The time-outs of the gateway, in milliseconds. */
const [requestTimeout, connectionsCheckingInterval] = [10_000, 100];

const server = createServer(
  { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval },
  (request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { method, url: path, headers } = request;
      const forwarded = ask({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        answer.pipe(response);
      });
      forwarded.on('error', () => response.destroy());
      forwarded.end(Buffer.concat(pieces));
    });
  },
);
server.listen(Number(process.env.PORT), '127.0.0.1');
