// Forgeries in the protected header: algorithms, embedded keys, key ids, unknown members.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import {
  type Attempt,
  accountId,
  encode,
  type Genuine,
  goodClaims,
  goodHeader,
  type Members,
  signed,
} from './genuine.ts';

/** The function is longer than others, because it is a table of attempts. */
export function algorithms(genuine: Genuine): Attempt[] {
  const jwk = genuine.publicKey.export({ format: 'jwk' });
  const secrets: Record<string, string | Buffer> = {
    PEM: genuine.publicKey.export({ format: 'pem', type: 'spki' }),
    DER: genuine.publicKey.export({ format: 'der', type: 'spki' }),
    JWK: JSON.stringify(jwk),
    point: Buffer.concat([
      Buffer.from([4]),
      Buffer.from(`${jwk.x}`, 'base64url'),
      Buffer.from(`${jwk.y}`, 'base64url'),
    ]),
    nothing: '',
  };
  const withHmac = Object.entries(secrets).flatMap(([form, secret]) =>
    ['256', '384', '512'].map((bits): Attempt => {
      const input = `${encode({ ...goodHeader(genuine), alg: `HS${bits}` })}.${encode(goodClaims(genuine))}`;
      return [
        `HS${bits} with the public key as ${form}`,
        `${input}.${createHmac(`sha${bits}`, secret).update(input).digest('base64url')}`,
      ];
    }),
  );
  const real = signed(goodHeader(genuine), goodClaims(genuine), genuine.privateKey);
  const names = [
    'none',
    'None',
    'NONE',
    'nOnE',
    '',
    ' ',
    'null',
    'ES256 ',
    'es256',
    'ES256K',
    'ES384',
    'ES512',
    'RS256',
    'PS256',
    'EdDSA',
    'dir',
  ];
  const renamed = names.flatMap((alg): Attempt[] => {
    const header = encode({ ...goodHeader(genuine), alg });
    const input = `${header}.${encode(goodClaims(genuine))}`;
    return [
      [`alg "${alg}" without a signature`, `${input}.`],
      [`alg "${alg}" in two parts`, input],
      [`alg "${alg}" with another token's signature`, `${input}.${real.split('.')[2]}`],
      [
        `alg "${alg}" signed as ES256`,
        signed({ ...goodHeader(genuine), alg }, goodClaims(genuine), genuine.privateKey),
      ],
    ];
  });
  const odd = [null, 1, true, ['ES256'], { alg: 'ES256' }, ['none']].map(
    (alg): Attempt => [
      `alg ${JSON.stringify(alg)}`,
      signed({ ...goodHeader(genuine), alg }, goodClaims(genuine), genuine.privateKey),
    ],
  );
  return [...withHmac, ...renamed, ...odd];
}

export function embeddedKeys(genuine: Genuine): Attempt[] {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = own.publicKey.export({ format: 'jwk' });
  const members: Members = {
    jwk,
    jku: `${genuine.trap}/jwks.json`,
    x5u: `${genuine.trap}/chain.pem`,
    x5c: [own.publicKey.export({ format: 'der', type: 'spki' }).toString('base64')],
    x5t: 'dGVzdA',
    'x5t#S256': 'dGVzdA',
    url: genuine.trap,
    iss: genuine.trap,
  };
  const ids = [genuine.kid, 'own', `${genuine.trap}/key`, undefined];
  return Object.entries(members).flatMap(([name, value]) =>
    ids.flatMap((kid): Attempt[] => {
      const header = { ...goodHeader(genuine), kid, [name]: value };
      return [
        [`${name} in the header, kid ${kid}, own key`, signed(header, goodClaims(genuine), own.privateKey)],
        [`${name} in the header, kid ${kid}, genuine key`, signed(header, goodClaims(genuine), genuine.privateKey)],
        [
          `issuer ${genuine.trap}, ${name}`,
          signed(header, { ...goodClaims(genuine), iss: genuine.trap }, own.privateKey),
        ],
      ];
    }),
  );
}

export function keyIds(genuine: Genuine): Attempt[] {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const texts = [
    '',
    ' ',
    '../../../../dev/null',
    '/dev/null',
    'file:///etc/passwd',
    `${genuine.trap}/key`,
    "' OR '1'='1",
    '; ls',
    '$(id)',
    '%00',
    '\u0000',
    `${genuine.kid}\u0000`,
    `${genuine.kid} `,
    genuine.kid.toUpperCase(),
    genuine.kid.slice(0, -1),
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'ключ',
    '\ud800',
    'a'.repeat(300),
    '*',
    '0',
    'null',
    'undefined',
  ];
  const others: unknown[] = [
    null,
    0,
    1,
    true,
    false,
    [],
    {},
    [genuine.kid],
    { kid: genuine.kid },
    { toString: genuine.kid },
  ];
  return [undefined, ...texts, ...others].flatMap((kid): Attempt[] => [
    [
      `kid ${JSON.stringify(kid)?.slice(0, 40)}, genuine key`,
      signed({ ...goodHeader(genuine), kid }, goodClaims(genuine), genuine.privateKey),
    ],
    [
      `kid ${JSON.stringify(kid)?.slice(0, 40)}, own key`,
      signed({ ...goodHeader(genuine), kid }, goodClaims(genuine), own),
    ],
  ]);
}

export function headers(genuine: Genuine): Attempt[] {
  const added: Members[] = [
    ...[[], ['exp'], ['b64'], ['alg'], ['unknown'], 'exp', null, 1, {}].map((crit) => ({ crit, exp: 1, b64: true })),
    { crit: ['b64'], b64: false },
    { b64: false },
    { zip: 'DEF' },
    { enc: 'A256GCM' },
    { cty: 'JWT' },
    { nonce: 'x' },
    { ppt: 'shaken' },
    { accountId },
  ];
  const types = [
    'JWT',
    'jwt',
    'at+jwt ',
    'text/at+jwt',
    'application/application/at+jwt',
    'application/at+jwt;x=1',
    'internal+jwt',
    'id+jwt',
    'dpop+jwt',
    '',
    null,
    1,
    ['at+jwt'],
    undefined,
  ];
  const raw = [
    '',
    '[]',
    'null',
    '1',
    '"ES256"',
    '{',
    '{}',
    '{"alg":"ES256"',
    '\ufeff{"alg":"ES256","kid":"test","typ":"at+jwt"}',
    '{"alg":"ES256","kid":"test","typ":"at+jwt"} x',
  ];
  return [
    ...added.map(
      (members): Attempt => [
        `header ${JSON.stringify(members)}`,
        signed({ ...goodHeader(genuine), ...members }, goodClaims(genuine), genuine.privateKey),
      ],
    ),
    ...types.map(
      (typ): Attempt => [
        `typ ${JSON.stringify(typ)}`,
        signed({ ...goodHeader(genuine), typ }, goodClaims(genuine), genuine.privateKey),
      ],
    ),
    ...raw.map((header): Attempt => [`header text ${header}`, signed(header, goodClaims(genuine), genuine.privateKey)]),
  ];
}
