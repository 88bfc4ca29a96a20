// URLs with one host or several.
import { describe, expect, it } from '@jest/globals';
import { parseAddresses, urlOfHosts } from '@shop/shared/runtime';

describe('parseAddresses', () => {
  it.each([
    ['amqp://broker', ['amqp://broker']],
    [
      'amqp://u:p@a:5672,b,c:5673/shop?x=1',
      ['amqp://u:p@a:5672/shop?x=1', 'amqp://u:p@b/shop?x=1', 'amqp://u:p@c:5673/shop?x=1'],
    ],
    ['amqps://[::1]:5671,a/', ['amqps://[::1]:5671/', 'amqps://a/']],
    ['amqp://u:p%2Cq,r@a/x,y?z=1,2', ['amqp://u:p%2Cq,r@a/x,y?z=1,2']],
    ['postgres://u:p@a/shop', ['postgres://u:p@a/shop']],
    ['postgres://u:p@a:1,b:2/shop?x=1', ['postgres://u:p@a:1/shop?x=1', 'postgres://u:p@b:2/shop?x=1']],
  ])('parseAddresses returns an address for each host of %s', (text, addresses) => {
    expect(parseAddresses(text)).toEqual(addresses);
  });
});

describe('a variable with several hosts', () => {
  const { parse } = urlOfHosts('DATABASE_URL', ['postgres', 'postgresql']);

  it.each(['postgres://u:p@a/shop', 'postgresql://u:p@a:5432,b,[::1]:5433/shop?target_session_attrs=read-write'])(
    'a variable with several hosts accepts %s',
    (text) => {
      expect(parse(text)).toBe(text);
    },
  );

  it.each([
    [
      'postgres://u:p@a,postgres://u:p@b/shop',
      'lists hosts behind one scheme, as in postgres://user:password@a,b/shop',
    ],
    ['postgres://u:p@a,:5432/shop', 'must be a URL that starts with postgres:// or postgresql://'],
    ['postgres://u:p@a:5432,b:none/shop', 'must be a URL that starts with postgres:// or postgresql://'],
    ['amqp://u:p@a,b/shop', 'must be a URL that starts with postgres:// or postgresql://'],
  ])('a variable with several hosts rejects %s', (text, message) => {
    expect(() => parse(text)).toThrow(message);
  });
});
