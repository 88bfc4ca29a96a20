// Forgeries of the signature, and of the form of a token and of its header field.
import { sign } from 'node:crypto';
import { type Attempt, type Genuine, goodClaims, goodHeader, signed } from './genuine.ts';

// The order of the curve P-256. Both parts of a signature must be below it.
const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');

export function signatures(genuine: Genuine): Attempt[] {
  const good = signed(goodHeader(genuine), goodClaims(genuine), genuine.privateKey);
  const [header = '', payload = '', signature = ''] = good.split('.');
  const bytes = Buffer.from(signature, 'base64url');
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32)];
  const zero = Buffer.alloc(32);
  const one = Buffer.concat([Buffer.alloc(31), Buffer.from([1])]);
  const full = Buffer.alloc(32, 255);
  const numbers = [zero, one, order, full, r, s];
  const pairs = numbers
    .flatMap((left) => numbers.map((right) => Buffer.concat([left, right])))
    .filter((pair) => !pair.equals(bytes));
  const der = sign('sha256', Buffer.from(`${header}.${payload}`), genuine.privateKey);
  const lengths = [0, 1, 31, 32, 33, 63].map((length) => bytes.subarray(0, length));
  const longer = [
    Buffer.concat([bytes, Buffer.alloc(1)]),
    Buffer.concat([Buffer.alloc(1), bytes]),
    Buffer.concat([bytes, bytes]),
    der,
  ];
  const flipped = Array.from({ length: 512 }, (_, index) => {
    const copy = Buffer.from(bytes);
    copy[index >> 3] = (copy[index >> 3] ?? 0) ^ (1 << (index & 7));
    return copy;
  });
  const variants = [...pairs, ...lengths, ...longer, ...flipped];
  const moved = Array.from({ length: 100 }, (_, index): Attempt => {
    const at = index % payload.length;
    const other = payload[at] === 'A' ? 'B' : 'A';
    return [
      `payload changed at ${at}`,
      `${header}.${payload.slice(0, at)}${other}${payload.slice(at + 1)}.${signature}`,
    ];
  });
  return [
    ...variants.map(
      (variant, index): Attempt => [`signature ${index}`, `${header}.${payload}.${variant.toString('base64url')}`],
    ),
    ...moved,
  ];
}

export function spellings(genuine: Genuine): Attempt[] {
  const good = signed(goodHeader(genuine), goodClaims(genuine), genuine.privateKey);
  const [header = '', payload = '', signature = ''] = good.split('.');
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet.indexOf(signature.at(-1) ?? 'A');
  const tails = Array.from(
    { length: 15 },
    (_, index) => `${signature.slice(0, -1)}${alphabet[(last & 48) | ((last + index + 1) & 15)]}`,
  );
  const plus = good.replaceAll('-', '+').replaceAll('_', '/');
  return [
    ...tails.map((tail, index): Attempt => [`unused bits ${index}`, `${header}.${payload}.${tail}`]),
    ...['=', '==', '.', '..', '~', '%3D', ',', ';', '\\', '"', "'", '#', '\u00e9'].map(
      (tail): Attempt => [`trailing ${tail}`, `${good}${tail}`],
    ),
    ...['.', '"', ',', '=', 'A'].map((start): Attempt => [`leading ${start}`, `${start}${good}`]),
    ['one dot', `${header}.${payload}`],
    ['four dots', `${good}.${signature}.${signature}`],
    ['encrypted form', `${header}..${payload}.${signature}.AA`],
    ['empty payload', `${header}..${signature}`],
    ['padded parts', `${header}=.${payload}=.${signature}=`],
    ['standard alphabet', plus === good ? `${good}+` : plus],
    ['JSON form', JSON.stringify({ payload, protected: header, signature })],
    ...['Basic', 'Token', 'JWT', 'DPoP', 'Bearer,', 'Bearer:', 'BearerBearer', 'Bearer Bearer'].map(
      (scheme): Attempt => [`scheme ${scheme}`, `${scheme} ${good}`],
    ),
    ['two tokens', `Bearer ${good} ${good}`],
    ['two schemes', `Bearer ${good}, Bearer ${good}`],
    ['quoted', `Bearer "${good}"`],
    ['parameter', `Bearer token="${good}"`],
  ];
}
