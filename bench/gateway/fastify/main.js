// @fastify/http-proxy as its documentation shows it, without any checks.
import proxy from '@fastify/http-proxy';
import fastify from 'fastify';

const app = fastify();
await app.register(proxy, { upstream: `http://127.0.0.1:${process.env.SERVICE_PORT}` });
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
