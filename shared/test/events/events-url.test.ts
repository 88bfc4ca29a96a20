// EVENTS_URL with one host or several.
import { describe, expect, it } from '@jest/globals';
import { addressesOf, eventsUrl } from '../../src/events/events-url.ts';

describe('addressesOf', () => {
  it.each([
    ['amqp://broker', ['amqp://broker']],
    [
      'amqp://u:p@a:5672,b,c:5673/shop?x=1',
      ['amqp://u:p@a:5672/shop?x=1', 'amqp://u:p@b/shop?x=1', 'amqp://u:p@c:5673/shop?x=1'],
    ],
    ['amqps://[::1]:5671,a/', ['amqps://[::1]:5671/', 'amqps://a/']],
    ['amqp://u:p%2Cq,r@a/x,y?z=1,2', ['amqp://u:p%2Cq,r@a/x,y?z=1,2']],
    ['postgres://u:p@a/shop', ['postgres://u:p@a/shop']],
  ])('returns an address for each host of %s', (text, addresses) => {
    expect(addressesOf(text)).toEqual(addresses);
  });
});

describe('EVENTS_URL', () => {
  it.each(['amqp://a:5672,b:5672', 'amqps://u:p@a,b/shop', 'postgres://u:p@a/shop'])('accepts %s', (text) => {
    expect(eventsUrl().parse(text)).toBe(text);
  });

  it('refuses several addresses, each with its scheme', () => {
    expect(() => eventsUrl().parse('amqp://u:p@a,amqp://u:p@b')).toThrow('lists hosts behind one scheme');
  });

  it.each(['postgres://u:p@a:5432,b:5432/shop', 'amqp://a:5672,b:none', 'http://a', 'a,b'])('refuses %s', (text) => {
    expect(() => eventsUrl().parse(text)).toThrow('must be a URL that starts with amqp:// or amqps://');
  });
});
