// However a request is framed, the service sees exactly the requests that the gateway answered for, each with the
// identity of its own token.

import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { framingVariants, type Parts, sequenceVariants, type Variant } from './framing-variants.ts';
import { sendRaw } from './raw.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';
import type { SeenRequest } from './stub-service.ts';

let gateway: TestGateway;
const tokens: string[] = [];
const together = 75;
/** Milliseconds without an answer after which none is waited for; a machine that does much else answers late. */
const silence = 2_000;

beforeAll(async () => {
  gateway = await startGateway();
  tokens.push(...(await Promise.all(Array.from({ length: 1_200 }, () => gateway.issuer.sign()))));
});
afterAll(() => gateway.stop());

it('passes on what it answers for, and nothing else', async () => {
  const variants = framingVariants(partsOf);
  expect(variants.length).toBeGreaterThan(300);
  answerInTwo(0, 0);
  expect(await faultsOf(variants)).toEqual([]);
});

it.each([
  ['answers late', 400, 0],
  ['answers piece by piece', 0, 400],
])('as well with a service that %s', async (_name, before, between) => {
  gateway.service.seen.length = 0;
  answerInTwo(before, between);
  expect(await faultsOf(sequenceVariants(partsOf), silence + 3_000)).toEqual([]);
});

/** The service shows what it saw, in two pieces with a pause of `before` ms before them and of `between` ms between them. */
function answerInTwo(before: number, between: number): void {
  gateway.service.answer = async (request, response) => {
    const answer = Buffer.from(JSON.stringify(shown(gateway.service.seen.at(-1))));
    response.setHeader('Content-Type', 'application/json');
    // Whoever reads the answers takes a length for that of content.
    if (request.method !== 'HEAD') response.setHeader('Content-Length', answer.length);
    if (before > 0) await setTimeout(before);
    response.write(answer.subarray(0, 10));
    if (between > 0) await setTimeout(between);
    response.end(answer.subarray(10));
  };
}

async function faultsOf(variants: readonly Variant[], silent = silence): Promise<string[]> {
  const faults: string[] = [];
  for (let start = 0; start < variants.length; start += together) {
    const some = variants.slice(start, start + together);
    const found = await Promise.all(some.map(({ name, bytes }, offset) => check(start + offset, name, bytes, silent)));
    faults.push(...found.flat());
  }
  return faults;
}

async function check(index: number, name: string, bytes: string, silent: number): Promise<string[]> {
  const { path, token, hiddenPath, hiddenToken } = partsOf(index);
  const { answers } = await sendRaw(gateway.port, bytes, silent);
  const answered = answers
    .filter(({ status, body }) => status < 300 && body !== '')
    .map(({ body }) => JSON.parse(body));
  const empty = answers.filter(({ status, body }) => status < 300 && body === '').length;
  const seen = gateway.service.seen.filter(({ url }) => url.startsWith(path)).map(shown);
  const faults: string[] = [];
  const whole = seen.filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS');
  if (
    JSON.stringify(answered.filter(({ method }) => method !== 'OPTIONS')) !== JSON.stringify(whole) ||
    empty > seen.length - whole.length
  ) {
    faults.push(`answered ${JSON.stringify(answered)}, but the service saw ${JSON.stringify(seen)}`);
  }
  for (const { url, authorization } of seen) {
    const expected =
      url === path || url === `${path}/cancel`
        ? `Bearer ${token}`
        : url === hiddenPath
          ? `Bearer ${hiddenToken}`
          : undefined;
    // A token that `Connection` names is dropped, and its request is anonymous on both sides.
    if (authorization !== expected) faults.push(`${url} arrived with another identity`);
  }
  const refusals = answers.filter(({ status }) => status >= 300);
  for (const { status, headers, body } of refusals) {
    if (headers['content-type'] !== 'application/problem+json' || (body !== '' && JSON.parse(body).status !== status)) {
      faults.push(`the refusal ${status} is no problem document: ${body}`);
    }
    if (status >= 500) faults.push(`answered ${status}`);
  }
  return faults.map((fault) => `${name}: ${fault} [${answers.map(({ status }) => status)}]`);
}

function shown(request: SeenRequest | undefined) {
  const { method = '', url = '', body = '', headers = {} } = request ?? {};
  return { method, url, body, authorization: headers.authorization };
}

function partsOf(index: number): Parts {
  const path = `/v1/orders/f${index}x`;
  return {
    path,
    hiddenPath: `${path}-hidden`,
    token: tokens[2 * index] ?? '',
    hiddenToken: tokens[2 * index + 1] ?? '',
  };
}
