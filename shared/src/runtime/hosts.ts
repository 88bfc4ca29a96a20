// URLs that list several hosts, as those of clusters do.
import { url, type Variable } from './config.ts';

const hostsOf = /^([a-z]+:\/\/(?:[^@/?#]*@)?)([^@/?#]+)/;

/**
 * Returns the URL of each host that a URL lists. Only the hosts and ports differ.
 * @example parseAddresses('amqp://user:password@a:5672,b:5672/shop')
 * // ['amqp://user:password@a:5672/shop', 'amqp://user:password@b:5672/shop']
 */
export function parseAddresses(text: string): string[] {
  const [matched = '', before = '', hosts] = hostsOf.exec(text) ?? [];
  const after = text.slice(matched.length);
  return hosts === undefined ? [text] : hosts.split(',').map((host) => `${before}${host}${after}`);
}

/** Defines a variable like `url`, with one host or several, separated by commas. */
export function urlOfHosts(name: string, schemes: readonly string[]): Variable<string> {
  const address = url(name, schemes);
  return {
    ...address,
    parse(text) {
      // A second scheme would be read as a host.
      if (text.split('://').length > 2)
        throw new Error(`lists hosts behind one scheme, as in ${schemes[0]}://user:password@a,b/shop`);
      const addresses = parseAddresses(text).map(address.parse);
      if (addresses.length > 1 && addresses.some((each) => new URL(each).hostname === '')) {
        throw new Error('has an empty host between two commas');
      }
      return text;
    },
  };
}
