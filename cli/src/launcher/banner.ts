// The summary that the launcher prints when the shop is ready.

export interface Summary {
  readonly gateway: string;
  /** The names and addresses of the processes, in order. */
  readonly places: readonly (readonly [string, string])[];
  readonly data: string;
  readonly mail: string;
  readonly logs: string;
  /** A product to order in the example; undefined in an empty catalogue. */
  readonly productId: string | undefined;
  readonly seconds: number;
}

/** Returns the table, and example commands that register, order and cancel. */
export function banner(summary: Summary): string {
  const rows = [...summary.places, ['data', summary.data], ['e-mails', summary.mail], ['logs', summary.logs]] as const;
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
  return `
The shop is ready after ${summary.seconds.toFixed(1)} s. Ctrl-C stops it.

${table}

Try it in another terminal: register, order, cancel.

${tryOut(summary.gateway, summary.productId).join('\n')}
`;
}

/**
 * Commands for any POSIX shell with curl. Variables hold the address and the token, so that the commands need not
 * repeat them.
 */
function tryOut(gateway: string, productId = 'PRODUCT-ID'): string[] {
  const json = `-H 'Content-Type: application/json'`;
  const bearer = `-H "Authorization: Bearer $TOKEN"`;
  const take = (member: string): string => `sed 's/.*"${member}":"\\([^"]*\\).*/\\1/'`;
  const who = '"email":"ada@example.com","password":"under the old oak"';
  return [
    `curl -s ${gateway}/v1/accounts ${json} -d '{"name":"Ada",${who}}'`,
    `TOKEN=$(curl -s ${gateway}/v1/tokens ${json} -d '{${who}}' | ${take('access_token')})`,
    `ORDER=$(curl -s ${gateway}/v1/orders ${bearer} ${json} -d ` +
      `'{"items":[{"productId":"${productId}","quantity":2}]}' | ${take('id')})`,
    `curl -s -X POST ${gateway}/v1/orders/$ORDER/cancel ${bearer}`,
  ];
}
