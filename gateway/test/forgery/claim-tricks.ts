// Forgeries in the claims, with a valid signature: wrong types and values, missing and repeated members, texts that are
// not an object.
import { type Attempt, accountId, type Genuine, goodClaims, goodHeader, type Members, signed } from './genuine.ts';

export function duplicates(genuine: Genuine): Attempt[] {
  const header = JSON.stringify(goodHeader(genuine));
  const payload = JSON.stringify(goodClaims(genuine));
  const twice = (text: string): string[] =>
    Object.entries(JSON.parse(text) as Members).flatMap(([name, value]) => [
      `{"${name}":${JSON.stringify(value)},${text.slice(1)}`,
      `${text.slice(0, -1)},"${name}":${JSON.stringify(value)}}`,
      `{"${name}":null,${text.slice(1)}`,
      `{"\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}":"x",${text.slice(1)}`,
    ]);
  return [
    ...twice(header).map((text): Attempt => [`header ${text}`, signed(text, payload, genuine.privateKey)]),
    ...twice(payload).map((text): Attempt => [`payload ${text}`, signed(header, text, genuine.privateKey)]),
    ['nested duplicate', signed(header, `${payload.slice(0, -1)},"x":{"a":1,"a":2}}`, genuine.privateKey)],
    [
      'nested duplicate in a list',
      signed(header, `${payload.slice(0, -1)},"x":[[{"a":1,"a":2}]]}`, genuine.privateKey),
    ],
  ];
}

/** The function is longer than others, because it is a table of attempts. */
export function claims(genuine: Genuine): Attempt[] {
  const good = goodClaims(genuine);
  const now = Number(good.iat);
  const notText = [null, true, 0, 1, [], {}, [accountId], { a: accountId }, ''];
  const wrong: Record<string, unknown[]> = {
    iss: [
      ...notText,
      'https://other.example',
      `${genuine.issuer}/`,
      `${genuine.issuer} `,
      genuine.issuer.toUpperCase(),
      [genuine.issuer],
      genuine.trap,
    ],
    aud: [
      null,
      true,
      0,
      [],
      {},
      '',
      'other',
      [[genuine.audience]],
      ['other'],
      `${genuine.audience} `,
      { 0: genuine.audience },
    ],
    sub: [...notText, 'x'.repeat(300)],
    jti: [...notText, 'x'.repeat(300)],
    accountId: [
      ...notText,
      'me',
      accountId.toUpperCase(),
      `${accountId} `,
      `{${accountId}}`,
      accountId.replaceAll('-', ''),
      `${accountId}' OR 1=1`,
      'x'.repeat(300),
      '\u0000',
    ],
    scope: [
      null,
      true,
      0,
      1,
      [],
      {},
      ['orders:read-all'],
      { 'orders:read-all': true },
      ' ',
      'a  b',
      ' a',
      'a ',
      'a\tb',
      'a\nb',
      'a"b',
      'a\\b',
      'é',
    ],
    exp: [null, true, '', 'x', [], {}, String(now + 900), [now + 900], 0, -1, now - 6, now - 900, -(2 ** 53)],
    iat: [null, true, '', 'x', [], {}, String(now), [now], 0, -1, now + 60, now + 901, 2 ** 53],
    nbf: [null, true, '', 'x', [], {}, String(now), now + 60, now + 2 ** 40],
  };
  const changed = Object.entries(wrong).flatMap(([name, values]) =>
    values.map(
      (value): Attempt => [
        `${name} ${JSON.stringify(value)?.slice(0, 60)}`,
        signed(goodHeader(genuine), { ...good, [name]: value }, genuine.privateKey),
      ],
    ),
  );
  const missing = ['iss', 'aud', 'sub', 'accountId', 'exp', 'iat', 'jti'].map(
    (name): Attempt => [`no ${name}`, signed(goodHeader(genuine), { ...good, [name]: undefined }, genuine.privateKey)],
  );
  const text = JSON.stringify(good);
  const numbers = ['1e400', '-1e400', '1e-400', '0x7fffffff', '+1', '01', 'NaN', 'Infinity'].flatMap(
    (number): Attempt[] => [
      [`exp ${number}`, signed(goodHeader(genuine), text.replace(/"exp":\d+/, `"exp":${number}`), genuine.privateKey)],
      [`iat ${number}`, signed(goodHeader(genuine), text.replace(/"iat":\d+/, `"iat":${number}`), genuine.privateKey)],
    ],
  );
  const texts = [
    '',
    '[]',
    'null',
    '1',
    '"x"',
    `[${text}]`,
    `${text}${text}`,
    `${text},`,
    text.slice(0, -1),
    `\ufeff${text}`,
    `${text}\u0000`,
    '{"__proto__":{}}',
  ];
  const raw = texts.map(
    (payload): Attempt => [
      `payload text ${payload.slice(0, 20)}`,
      signed(goodHeader(genuine), payload, genuine.privateKey),
    ],
  );
  const big: Attempt = [
    'larger than 8 KiB',
    signed(goodHeader(genuine), { ...good, padding: 'x'.repeat(8_000) }, genuine.privateKey),
  ];
  return [...changed, ...missing, ...numbers, ...raw, big];
}
