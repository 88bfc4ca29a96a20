// Every combination of length, transfer coding, body and line end that two parsers might read differently.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createFramingCheck, shown } from '../../../gateway/test/framing-check.ts';
import type { Parts, Variant } from '../../../gateway/test/framing-variants.ts';
import { startGateway, type TestGateway } from '../../../gateway/test/start-gateway.ts';
import { report } from './report.ts';

/** Header lines about the length of the body. `\n` stands for a line end. */
const lengths = [
  '',
  'Content-Length: 5\n',
  'Content-Length: 05\n',
  'Content-Length: +5\n',
  'Content-Length: 5 \n',
  'Content-Length:5\t\n',
  'Content-Length: 0x5\n',
  'Content-Length: 5,5\n',
  'Content-Length: 5, 6\n',
  'Content-Length: -5\n',
  'Content-Length: 5.0\n',
  'Content-Length:\n',
  'Content-Length: 18446744073709551621\n',
  'Content-Length : 5\n',
  'Content-Length: 5\nContent-Length: 5\n',
  'Content-Length: 0\nContent-Length: 5\n',
  'Content-Length:\n 5\n',
  'Content_Length: 5\n',
  '\tContent-Length: 5\n',
  'Content-Length: 5\x0b\n',
];

const codings = [
  '',
  'Transfer-Encoding: chunked\n',
  'transfer-encoding: CHUNKED\n',
  'Transfer-Encoding: chunked \n',
  'Transfer-Encoding:\tchunked\n',
  'Transfer-Encoding : chunked\n',
  'Transfer-Encoding: xchunked\n',
  'Transfer-Encoding: chunked, chunked\n',
  'Transfer-Encoding: identity\n',
  'Transfer-Encoding: identity, chunked\n',
  'Transfer-Encoding: gzip, chunked\n',
  'Transfer-Encoding: chunked, gzip\n',
  'Transfer-Encoding: "chunked"\n',
  'Transfer-Encoding: chunked;q=1\n',
  'Transfer-Encoding: chu\tnked\n',
  'Transfer-Encoding: \x0bchunked\n',
  'Transfer-Encoding: chunked\x00\n',
  'Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n',
  'Transfer-Encoding: identity\nTransfer-Encoding: chunked\n',
  'Transfer-Encoding:\n chunked\n',
  'Transfer_Encoding: chunked\n',
  ' Transfer-Encoding: chunked\n',
  'X: y\rTransfer-Encoding: chunked\n',
  'Connection: Transfer-Encoding\nTransfer-Encoding: chunked\n',
];

/** @param hidden another request, with the token of another account */
const bodies: readonly ((hidden: string) => string)[] = [
  () => 'hello',
  () => '5\nhello\n0\n\n',
  (hidden) => `0\n\n${hidden}`,
  (hidden) => hidden,
  (hidden) => `5;a="\n"\nhello\n0\n\n${hidden}`,
  (hidden) => `5\nhello0\n\n${hidden}`,
  (hidden) => `10000000000000005\nhello\n0\n\n${hidden}`,
];

const ends = ['\r\n', '\n'];

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
  gateway.service.answer = (_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(shown(gateway.service.seen.at(-1))));
  };
});
afterAll(() => gateway?.stop());

function framings(partsOf: (index: number) => Parts): Variant[] {
  const combinations = lengths.flatMap((length) =>
    codings.flatMap((coding) => bodies.flatMap((body) => ends.map((end) => ({ length, coding, body, end })))),
  );
  return combinations.map(({ length, coding, body, end }, index) => {
    const { path, token, hiddenPath, hiddenToken } = partsOf(index);
    const start = `POST ${path}/cancel HTTP/1.1\nHost: shop\nAuthorization: Bearer ${token}\n`;
    const hidden = `GET ${hiddenPath} HTTP/1.1\nHost: shop\nAuthorization: Bearer ${hiddenToken}\n\n`;
    const bytes = `${start}${length}${coding}\n${body(hidden)}`.replaceAll('\n', end);
    return { name: JSON.stringify([length, coding, body(''), end]), bytes };
  });
}

it('framings reach the service only as the gateway interprets them, or not at all', async () => {
  const check = await createFramingCheck(gateway, lengths.length * codings.length * bodies.length * ends.length);
  const variants = framings(check.partsOf);
  expect(variants.length).toBeGreaterThanOrEqual(6_000);
  report('framings', variants.length, await check.faultsOf(variants, { together: 240 }));
});
