// EVENTS_URL with one host or several.
import { describe, expect, it } from '@jest/globals';
import { eventsUrl } from '../../src/events/events-url.ts';

describe('EVENTS_URL', () => {
  it.each(['amqp://a:5672,b:5672', 'amqps://u:p@a,b/shop', 'postgres://u:p@a/shop'])(
    'EVENTS_URL accepts %s',
    (text) => {
      expect(eventsUrl().parse(text)).toBe(text);
    },
  );

  it('EVENTS_URL rejects several addresses, each with its scheme', () => {
    expect(() => eventsUrl().parse('amqp://u:p@a,amqp://u:p@b')).toThrow('lists hosts behind one scheme');
  });

  it.each(['postgres://u:p@a:5432,b:5432/shop', 'amqp://a:5672,b:none', 'http://a', 'a,b'])(
    'EVENTS_URL rejects %s',
    (text) => {
      expect(() => eventsUrl().parse(text)).toThrow('must be a URL that starts with amqp:// or amqps://');
    },
  );
});
