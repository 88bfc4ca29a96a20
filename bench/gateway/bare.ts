// The minimal gateway in Node: node:http on both sides, every header field forwarded, nothing checked.
import { Agent, request as ask, createServer } from 'node:http';

const agent = new Agent({ keepAlive: true, maxSockets: 128 });
const port = Number(process.env.SERVICE_PORT);

createServer((request, response) => {
  const { method, url: path, headers } = request;
  const forwarded = ask({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  request.pipe(forwarded);
}).listen(Number(process.env.PORT), '127.0.0.1');
