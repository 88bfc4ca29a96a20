// The network that is counted as one client: an IPv4 address, or the 64 bits of IPv6 that one subscriber is given.

/**
 * Returns an IPv4 address as it is, also when it is written as an IPv4-mapped IPv6 address (RFC 4291 section 2.5.5.2), and the
 * first 64 bits of any other IPv6 address: a subscriber has all addresses below them. Equal networks give equal text.
 * @param address a valid address; other text without a colon is returned as it is
 * @example clientNetwork('::ffff:c000:201') // '192.0.2.1'
 * @example clientNetwork('2001:DB8:0:7::1') // '2001:db8:0:7'
 */
export function clientNetwork(address: string): string {
  if (!address.includes(':')) return address;
  const groups = groupsOf(address);
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (!mapped)
    return groups
      .slice(0, 4)
      .map((group) => group.toString(16))
      .join(':');
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** The eight groups of 16 bits of an IPv6 address, which may have a zone, `::` and an IPv4 address at its end. */
function groupsOf(address: string): number[] {
  const [plain = ''] = address.split('%');
  const [head = [], tail = []] = plain.split('::').map(readGroups);
  const zeros = new Array<number>(Math.max(0, 8 - head.length - tail.length)).fill(0);
  return [...head, ...zeros, ...tail];
}

function readGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}
