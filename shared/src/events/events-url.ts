// EVENTS_URL: the address of the broker, or the addresses of its nodes.
import { url, type Variable } from '../runtime/index.ts';

const schemes = ['amqp', 'amqps', 'postgres', 'postgresql'];
const hostsOf = /^(amqps?:\/\/(?:[^@/?#]*@)?)([^@/?#]+)/;

/**
 * Returns the URL of each node that EVENTS_URL lists. Only the hosts and ports differ.
 * @example addressesOf('amqp://user:password@a:5672,b:5672/shop')
 * // ['amqp://user:password@a:5672/shop', 'amqp://user:password@b:5672/shop']
 */
export function addressesOf(eventsUrl: string): string[] {
  const [matched = '', before = '', hosts] = hostsOf.exec(eventsUrl) ?? [];
  const after = eventsUrl.slice(matched.length);
  return hosts === undefined ? [eventsUrl] : hosts.split(',').map((host) => `${before}${host}${after}`);
}

/** The variable EVENTS_URL. */
export function eventsUrl(): Variable<string> {
  const address = url('EVENTS_URL', schemes);
  return {
    ...address,
    parse(text) {
      // A second scheme would be read as a host.
      if (text.split('://').length > 2)
        throw new Error('lists hosts behind one scheme, as in amqp://user:password@a,b/shop');
      const addresses = addressesOf(text).map(address.parse);
      if (addresses.length > 1 && addresses.some((each) => new URL(each).hostname === '')) {
        throw new Error('has an empty host between two commas');
      }
      return text;
    },
  };
}
