// Requests whose end, target or header section two parsers might read differently.

export interface Variant {
  readonly name: string;
  /** One character per byte. */
  readonly bytes: string;
}

/** The paths and tokens of a variant: one request, and a hidden one after it. */
export interface Parts {
  readonly path: string;
  readonly token: string;
  readonly hiddenPath: string;
  readonly hiddenToken: string;
}

type PartsOf = (index: number) => Parts;

/** Creates every variant. `parts` returns separate paths and tokens for each one. */
export function framingVariants(parts: PartsOf): Variant[] {
  return variants([...lengths, ...codings, ...chunks, ...bodies, ...lines, ...fields, ...sequences], parts);
}

/** Creates the variants with bytes after a request that a service answers. */
export function sequenceVariants(parts: PartsOf): Variant[] {
  return variants(sequences, parts);
}

function variants(makers: readonly Maker[], parts: PartsOf): Variant[] {
  return makers.map(([name, make], index) => ({ name, bytes: make(new Pieces(parts(index))) }));
}

type Maker = readonly [name: string, make: (pieces: Pieces) => string];

class Pieces {
  readonly path: string;
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.path = parts.path;
    this.#parts = parts;
  }

  /** The request that is hidden in the bytes after the first one. */
  get hidden(): string {
    const { hiddenPath, hiddenToken } = this.#parts;
    return `GET ${hiddenPath} HTTP/1.1\r\nHost: shop\r\nAuthorization: Bearer ${hiddenToken}\r\n\r\n`;
  }

  get authorization(): string {
    return `Authorization: Bearer ${this.#parts.token}\r\n`;
  }

  get hiddenAuthorization(): string {
    return `Authorization: Bearer ${this.#parts.hiddenToken}\r\n`;
  }

  post(extra: string, body: string): string {
    return `POST ${this.path}/cancel HTTP/1.1\r\nHost: shop\r\n${this.authorization}${extra}\r\n${body}`;
  }

  get(extra: string, body = '', method = 'GET'): string {
    return `${method} ${this.path} HTTP/1.1\r\nHost: shop\r\n${this.authorization}${extra}\r\n${body}`;
  }
}

const show = (text: string): string => JSON.stringify(text).slice(1, -1);

const lengthValues = [
  '0',
  '4',
  '4 ',
  '\t4',
  '+4',
  '-4',
  '04',
  '0004',
  '0x4',
  '4.0',
  '4e0',
  '4;',
  '4,',
  '4,4',
  '4, 4',
  '4, 0',
  '0, 4',
  '4 4',
  '',
  ' ',
  'a',
  '4a',
  '\x0b4',
  '4\x0b',
  '4\x00',
  '\xb2',
  '00000000000000000000004',
  '18446744073709551620',
  '99999999999999999999',
  '102401',
  'Infinity',
  'NaN',
  '4\r',
  '[4]',
  '"4"',
  '4_0',
  '１',
];
const lengths: Maker[] = [
  ...lengthValues.map(
    (value): Maker => [
      `content-length ${show(value)}`,
      (p) => p.post(`Content-Length: ${value}\r\n`, `abcd${p.hidden}`),
    ],
  ),
  ...[
    ['4', '4'],
    ['4', '0'],
    ['0', '4'],
    ['4', '4 '],
    ['4', ''],
    ['', '4'],
    ['4', '-1'],
  ].map(
    ([first, second]): Maker => [
      `content-length ${first} and ${second}`,
      (p) => p.post(`Content-Length: ${first}\r\nContent-Length: ${second}\r\n`, `abcd${p.hidden}`),
    ],
  ),
  ...[
    'Content-Length ',
    'Content-Length\t',
    ' Content-Length',
    '\tContent-Length',
    'Content_Length',
    'Content-Length\x00',
    'Content-Length\x0b',
    'Content\xadLength',
    'CONTENT-LENGTH',
    'X\r\nContent-Length',
    'X: y\nContent-Length',
    'X: y\rContent-Length',
  ].map((name): Maker => [`field name ${show(name)}`, (p) => p.post(`${name}: 4\r\n`, `abcd${p.hidden}`)]),
];

const codingValues = [
  'chunked',
  'CHUNKED',
  'Chunked',
  ' chunked',
  '\tchunked',
  'chunked ',
  'chunked\t',
  '\x0bchunked',
  'chunked\x0b',
  '\x00chunked',
  'chunked\x00',
  'xchunked',
  'chunkedx',
  'chunked;',
  'chunked;a=b',
  'chunked,',
  ',chunked',
  'chunked, identity',
  'identity, chunked',
  'identity',
  'gzip',
  'gzip, chunked',
  'chunked, gzip',
  'chunked, chunked',
  'deflate',
  'compress',
  'x-chunked',
  '"chunked"',
  "'chunked'",
  'chunk',
  'cow',
  '',
  ' ',
  'chunked\r',
  '\xa0chunked',
  'c\x08hunked',
  'chu\tnked',
  'trailers, chunked',
  '0',
  'null',
];
const whole = '4\r\nabcd\r\n0\r\n\r\n';
const codings: Maker[] = [
  ...codingValues.flatMap((value): Maker[] => [
    [`transfer-encoding ${show(value)}`, (p) => p.post(`Transfer-Encoding: ${value}\r\n`, `${whole}${p.hidden}`)],
    [
      `transfer-encoding ${show(value)} after a length`,
      (p) => p.post(`Content-Length: 4\r\nTransfer-Encoding: ${value}\r\n`, `${whole}${p.hidden}`),
    ],
    [
      `transfer-encoding ${show(value)} before a length`,
      (p) => p.post(`Transfer-Encoding: ${value}\r\nContent-Length: ${whole.length}\r\n`, `${whole}${p.hidden}`),
    ],
  ]),
  ...[
    'Transfer-Encoding ',
    'Transfer-Encoding\t',
    ' Transfer-Encoding',
    'Transfer_Encoding',
    'Transfer-Encoding\x00',
    'X: y\nTransfer-Encoding',
    'X: y\rTransfer-Encoding',
    'X\r\n Transfer-Encoding',
    'transfer-ENCODING',
    'Transfer-Encod\xefng',
  ].flatMap((name): Maker[] => [
    [`field name ${show(name)}`, (p) => p.post(`${name}: chunked\r\n`, `${whole}${p.hidden}`)],
    [
      `field name ${show(name)} beside a length`,
      (p) => p.post(`Content-Length: 5\r\n${name}: chunked\r\n`, `0\r\n\r\n${p.hidden}`),
    ],
  ]),
  ...[
    ['chunked', 'chunked'],
    ['chunked', 'identity'],
    ['identity', 'chunked'],
    ['chunked', ''],
    ['gzip', 'chunked'],
  ].map(
    ([first, second]): Maker => [
      `transfer-encoding ${first} and ${second}`,
      (p) => p.post(`Transfer-Encoding: ${first}\r\nTransfer-Encoding: ${second}\r\n`, `${whole}${p.hidden}`),
    ],
  ),
];

const chunkTexts = [
  '4;a=b\r\nabcd\r\n0\r\n\r\n',
  '4 ;a\r\nabcd\r\n0\r\n\r\n',
  '4;a="\r\n"\r\nabcd\r\n0\r\n\r\n',
  '4;\nx\r\nabcd\r\n0\r\n\r\n',
  '04\r\nabcd\r\n0\r\n\r\n',
  '0x4\r\nabcd\r\n0\r\n\r\n',
  '+4\r\nabcd\r\n0\r\n\r\n',
  '-4\r\nabcd\r\n0\r\n\r\n',
  ' 4\r\nabcd\r\n0\r\n\r\n',
  '4 \r\nabcd\r\n0\r\n\r\n',
  '4\t\r\nabcd\r\n0\r\n\r\n',
  '4\nabcd\n0\n\n',
  '4\r\nabcd\n0\r\n\r\n',
  '4\rabcd\r0\r\r',
  '4\r\r\nabcd\r\n0\r\n\r\n',
  '4\r\nabcdX0\r\n\r\n',
  '4\r\nabcd0\r\n\r\n',
  '4\r\nabcd\r\n\r\n0\r\n\r\n',
  '4\r\nabcd\r\n00\r\n\r\n',
  '4\r\nabcd\r\n0;x\r\n\r\n',
  '4\r\nabcd\r\n0\r\nContent-Length: 9\r\n\r\n',
  '4\r\nabcd\r\n0\r\nAuthorization: x\r\n\r\n',
  '4\r\nabcd\r\n0\r\nbad trailer\r\n\r\n',
  '4\r\nabcd\r\n0\r\n\n',
  '4\r\nabcd\r\n0\n\n',
  '4\r\nabcd\r\n0\r\n',
  '4\r\nabcd\r\n',
  '5\r\nabcd\r\n0\r\n\r\n',
  '3\r\nabcd\r\n0\r\n\r\n',
  'g\r\nabcd\r\n0\r\n\r\n',
  '\r\n4\r\nabcd\r\n0\r\n\r\n',
  '\r\n',
  '0\r\n\r\n',
  '0\r\n\r\n0\r\n\r\n',
  '10000000000000004\r\nabcd\r\n0\r\n\r\n',
  'ffffffffffffffff\r\nabcd\r\n0\r\n\r\n',
  '4,4\r\nabcd\r\n0\r\n\r\n',
  '4"\r\nabcd\r\n0\r\n\r\n',
  '\x004\r\nabcd\r\n0\r\n\r\n',
  '4\x00\r\nabcd\r\n0\r\n\r\n',
  '４\r\nabcd\r\n0\r\n\r\n',
];
const chunks: Maker[] = chunkTexts.map(
  (text): Maker => [`chunks ${show(text)}`, (p) => p.post('Transfer-Encoding: chunked\r\n', `${text}${p.hidden}`)],
);

const methods = [
  'GET',
  'HEAD',
  'OPTIONS',
  'DELETE',
  'TRACE',
  'CONNECT',
  'PUT',
  'PATCH',
  'PROPFIND',
  'get',
  'GeT',
  'QUERY',
  'X',
];
const bodies: Maker[] = methods.flatMap((method): Maker[] => [
  [`${method} with a length`, (p) => p.get(`Content-Length: ${p.hidden.length}\r\n`, p.hidden, method)],
  [
    `${method} with chunks`,
    (p) =>
      p.get('Transfer-Encoding: chunked\r\n', `${p.hidden.length.toString(16)}\r\n${p.hidden}\r\n0\r\n\r\n`, method),
  ],
  [
    `${method} with an empty chunked body`,
    (p) => p.get('Transfer-Encoding: chunked\r\n', `0\r\n\r\n${p.hidden}`, method),
  ],
]);

const first = (p: Pieces, line: string): string => `${line}\r\nHost: shop\r\n${p.authorization}\r\n${p.hidden}`;
const versions = [
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/1.2',
  'HTTP/2.0',
  'HTTP/3',
  'HTTP/1.1 ',
  ' HTTP/1.1',
  'http/1.1',
  'HTTP/1.1\t',
  'HTTP/01.1',
  'HTTP/1,1',
  'HTTP /1.1',
  'HTTP/1.1\x00',
  'XTTP/1.1',
  '',
  'HTTP/11',
];
const targets: readonly ((path: string) => string)[] = [
  (path) => `http://shop${path}`,
  (path) => `//shop${path}`,
  (path) => `/.${path}`,
  (path) => `/x/..${path}`,
  (path) => `/%2e%2e${path}`,
  (path) => `${path}/..`,
  (path) => `${path}/.`,
  (path) => `${path}/`,
  (path) => path.replace('/v1/', '//v1/'),
  (path) => path.replace('/v1/', '/v1//'),
  (path) => path.replace('/v1/', '/v1%2f'),
  (path) => path.replace('/v1/', '/v1%5C'),
  (path) => path.replace('/v1/', '/v1\\'),
  (path) => path.replace('/v1/', '/V1/'),
  (path) => path.replace('orders', '%6frders'),
  (path) => `${path};x=y`,
  (path) => `${path}%00`,
  (path) => `${path}#x`,
  (path) => `${path}\x00`,
  (path) => `${path}\xe9`,
  (path) => `${path}%`,
  (path) => `*${path}`,
  (path) => path.slice(1),
  (path) => `${path} x`,
  () => '*',
  () => 'shop:80',
  () => '?',
  (path) => `${path}?a=#b`,
  (path) => `\\${path}`,
  (path) => `/..;${path}`,
];
const lines: Maker[] = [
  ...versions.map((version): Maker => [`version ${show(version)}`, (p) => first(p, `GET ${p.path} ${version}`)]),
  ...targets.map(
    (target): Maker => [`target ${show(target('/v1/orders/x'))}`, (p) => first(p, `GET ${target(p.path)} HTTP/1.1`)],
  ),
  ...['\r\n', '\n', '\r', ' ', '\t', '\x00', '\x0b', 'GARBAGE\r\n', '\r\n\r\n\r\n'].map(
    (start): Maker => [`begins with ${show(start)}`, (p) => `${start}${first(p, `GET ${p.path} HTTP/1.1`)}`],
  ),
  ...['  ', '\t', '\x0b', '\x0c', '\r', '\xa0'].map(
    (gap): Maker => [`gap ${show(gap)} in the request line`, (p) => first(p, `GET${gap}${p.path}${gap}HTTP/1.1`)],
  ),
  ['bare line feeds', (p) => first(p, `GET ${p.path} HTTP/1.1`).replaceAll('\r\n', '\n')],
  ['bare carriage returns', (p) => first(p, `GET ${p.path} HTTP/1.1`).replaceAll('\r\n', '\r')],
  ['bare line feeds after the request line', (p) => p.get('', p.hidden).replace('\r\nHost', '\nHost')],
  ['a bare line feed ends the header section', (p) => p.get('').replace(/\r\n\r\n$/, '\r\n\n') + p.hidden],
];

const extraFields = [
  'Host: other\r\n',
  'Host: shop\r\n',
  'host: \r\n',
  'Authorization: Bearer x\r\n',
  'Connection: authorization\r\n',
  'Connection: close, content-length\r\n',
  'Connection: host\r\n',
  'Connection: x-request-id, traceparent\r\n',
  'Connection: upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n' +
    'Sec-WebSocket-Version: 13\r\n',
  'Expect: 100-continue\r\n',
  'Expect: 200-ok\r\n',
  'Expect: 100-continue, x\r\n',
  'X-HTTP-Method-Override: DELETE\r\n',
  'X-Original-URL: /v1/orders/internal\r\n',
  'X-Forwarded-Host: evil\r\nForwarded: host=evil\r\n',
  'X-Account-Id: somebody\r\neg-consumer-id: somebody\r\n',
  'TE: trailers\r\nTrailer: Authorization\r\n',
  'Proxy-Authorization: Bearer x\r\nProxy-Connection: keep-alive\r\n',
  'X: a\r\n b\r\n',
  'X: a\r\n\tb: c\r\n',
  ' X: folded\r\n',
  'X : y\r\n',
  ': y\r\n',
  'X\r\n',
  'X: a\x00b\r\n',
  'X: a\x01b\r\n',
  'X: a\x7fb\r\n',
  'X\xe9: y\r\n',
  'X: \xe9\r\n',
  'X: a\rb\r\n',
  'X: a\nb: c\r\n',
  'X(): y\r\n',
  'X@: y\r\n',
  '"X": y\r\n',
  'Keep-Alive: timeout=1\r\n',
  'Content-Encoding: gzip\r\nContent-Encoding: br\r\n',
  'Idempotency-Key: a\r\nIdempotency-Key: b\r\n',
  'If-Match: "1"\r\nIf-Match: "2"\r\n',
];
const hosts = [
  '',
  ' ',
  'shop, other',
  'shop/x',
  'user@shop',
  'shop:x',
  'shop:99999999',
  'sh op',
  'http://shop',
  '[::1',
  '[::1]',
  '../shop',
  'shop\x00',
  'shop#',
  'shop?x',
  '-',
];
const fields: Maker[] = [
  ...extraFields.map((extra): Maker => [`fields ${show(extra)}`, (p) => p.get(extra, p.hidden)]),
  ...extraFields.map(
    (extra): Maker => [
      `fields ${show(extra)} on a POST`,
      (p) => p.post(`${extra}Content-Length: 4\r\n`, `abcd${p.hidden}`),
    ],
  ),
  ...hosts.map(
    (host): Maker => [
      `host ${show(host)}`,
      (p) => `GET ${p.path} HTTP/1.1\r\nHost: ${host}\r\n${p.authorization}\r\n${p.hidden}`,
    ],
  ),
  ['no host', (p) => `GET ${p.path} HTTP/1.1\r\n${p.authorization}\r\n${p.hidden}`],
  ['no host in HTTP/1.0', (p) => `GET ${p.path} HTTP/1.0\r\n${p.authorization}\r\n${p.hidden}`],
  ['two authorizations', (p) => p.get(p.hiddenAuthorization, p.hidden)],
  [
    'two authorizations, one with a space before the colon',
    (p) => p.get(p.hiddenAuthorization.replace(':', ' :'), p.hidden),
  ],
  [
    'an underscored authorization',
    (p) => p.get(p.hiddenAuthorization.replace('Authorization', 'Author_ization'), p.hidden),
  ],
  ['many fields', (p) => p.get('X: y\r\n'.repeat(150), p.hidden)],
  [
    'more fields than Node keeps, then another authorization',
    (p) => p.get('X: y\r\n'.repeat(2_100) + p.hiddenAuthorization, p.hidden),
  ],
  ['a large header section', (p) => p.get(`X: ${'y'.repeat(17_000)}\r\n`, p.hidden)],
  ['a header section past every bound', (p) => p.get(`X: ${'y'.repeat(40_000)}\r\n`, p.hidden)],
];

const sequences: Maker[] = [
  ['two requests at once', (p) => p.get('', p.hidden)],
  ['a request behind a body', (p) => p.post('Content-Length: 4\r\n', `abcd${p.hidden}`)],
  ['a request behind chunks', (p) => p.post('Transfer-Encoding: chunked\r\n', `${whole}${p.hidden}`)],
  ['a request behind one that closes', (p) => p.get('Connection: close\r\n', p.hidden)],
  ['a broken request behind a good one', (p) => p.get('', `BROKEN\r\n\r\n${p.hidden}`)],
  ['a broken request behind a body', (p) => p.post('Content-Length: 4\r\n', `abcd\x00\r\n\r\n${p.hidden}`)],
  ['a request behind one that is refused', (p) => p.get('Host: other\r\n', p.hidden)],
  ['a request behind an unknown path', (p) => `GET /nowhere HTTP/1.1\r\nHost: shop\r\n\r\n${p.hidden}`],
  [
    'a request behind a body that is too large',
    (p) => p.post('Content-Length: 102401\r\n', `${'x'.repeat(102_401)}${p.hidden}`),
  ],
  [
    'a request behind chunks that are too large',
    (p) => p.post('Transfer-Encoding: chunked\r\n', `19001\r\n${'x'.repeat(102_401)}\r\n0\r\n\r\n${p.hidden}`),
  ],
  ['a HEAD and a request behind it', (p) => p.get('', p.hidden, 'HEAD')],
  ...[
    `CONNECT a:1 HTTP/1.1\r\nHost: shop\r\n\r\n`,
    'POST /v1/orders HTTP/1.1\r\nHost: shop\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
    'POST /v1/orders HTTP/1.1\r\nHost: shop\r\nContent-Length: x\r\n\r\n',
    `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: shop\r\n\r\n`,
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00\x01',
  ].map(
    (broken): Maker => [
      `${show(broken).slice(0, 100)} behind a body`,
      (p) => p.post('Content-Length: 4\r\n', `abcd${broken}${p.hidden}`),
    ],
  ),
  ['CONNECT behind two requests', (p) => p.get('', `${p.hidden}CONNECT a:1 HTTP/1.1\r\nHost: shop\r\n\r\n${p.hidden}`)],
  [
    'a bad chunk behind two requests',
    (p) => p.get('', `${p.hidden}${p.post('Transfer-Encoding: chunked\r\n', `4\r\nabcd\r\nZZ\r\n${p.hidden}`)}`),
  ],
  ['an upgrade and a request behind it', (p) => p.get('Connection: upgrade\r\nUpgrade: h2c\r\n', p.hidden)],
  [
    'an upgrade with a body and a request behind it',
    (p) => p.post('Connection: upgrade\r\nUpgrade: h2c\r\nContent-Length: 4\r\n', `abcd${p.hidden}`),
  ],
];
