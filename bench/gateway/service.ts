// The service behind every gateway of the benchmark: always ready, with the same list of orders for every request.
import { createServer } from 'node:http';

const order = (index: number) => ({
  id: `01932f7c-8e5a-7c3e-9d52-3f1b6a4e8c${String(index).padStart(2, '0')}`,
  status: 'pending',
  createdAt: '2026-11-21T03:00:00.000Z',
  totalCost: 19.99,
  currency: 'EUR',
});
const page = {
  items: Array.from({ length: 10 }, (_, index) => order(index)),
  pagination: { limit: 10, hasMore: false },
};
const body = Buffer.from(JSON.stringify(page));
const headers = {
  'Content-Type': 'application/json',
  'Content-Length': body.length,
  'Cache-Control': 'private, no-cache',
};

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  request.resume();
  response.writeHead(200, headers).end(body);
});
server.listen(Number(process.env.PORT), '127.0.0.1');
