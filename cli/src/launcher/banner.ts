// The summary that the launcher prints when the shop is ready.
import { operatorCommand } from '@shop/shared/shop';

export interface Summary {
  readonly gateway: string;
  /** The names and addresses of the processes, in order. */
  readonly places: readonly (readonly [string, string])[];
  readonly data: string;
  /** The folder of the e-mails; undefined when they are sent to an SMTP server. */
  readonly mail: string | undefined;
  /** The address that shows the e-mails, with its key; undefined when the gateway does not serve it. */
  readonly mailPages: string | undefined;
  readonly logs: string;
  /** A product to order in the example; undefined in an empty catalogue. */
  readonly productId: string | undefined;
  /** Whether the gateway serves the storefront and the board. */
  readonly hasStorefront: boolean;
  readonly hasBoard: boolean;
  readonly seconds: number;
}

/** Returns the table, and example commands that register, order and cancel. */
export function banner(summary: Summary): string {
  const { gateway } = summary;
  const rows = [
    ...summary.places,
    ['documentation', `${gateway}/docs`],
    ...(summary.hasBoard ? [['board', `${gateway}/board`] as const] : []),
    ['data', summary.data],
    ['e-mails', placeOfEmails(summary)],
    ['logs', summary.logs],
  ] as const;
  const width = Math.max(...rows.map(([name]) => name.length));
  const table = rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
  const first = summary.hasStorefront ? `\nStorefront: ${gateway}\n` : '';
  return `${first}
The shop is ready after ${summary.seconds.toFixed(1)} s. Ctrl-C stops it.

${table}

In another terminal, ${operatorCommand('examine')} finds faults of the installation, ${operatorCommand('logs', '-f')} shows
the logs, and these lines register, verify the address, order, cancel, and wait until the stock is released:

${tryOut(summary.gateway, summary.productId).join('\n')}
`;
}

function placeOfEmails({ mail, mailPages }: Summary): string {
  if (mail === undefined) return 'sent to SMTP_URL';
  return mailPages === undefined ? `files in ${mail}` : `${mailPages} (files in ${mail})`;
}

/**
 * Returns commands for any POSIX shell with curl. Variables contain the address and the token, so that the commands
 * need not repeat them.
 */
function tryOut(gateway: string, productId = 'PRODUCT-ID'): string[] {
  const json = `-H 'Content-Type: application/json'`;
  const bearer = `-H "Authorization: Bearer $TOKEN"`;
  // The status determines the exit code, and the problem document is printed. Each output ends with a line break.
  const curl = "curl -sS --fail-with-body -w '\\n'";
  const take = (member: string): string => `sed 's/.*"${member}":"\\([^"]*\\).*/\\1/'`;
  // Another account than in the README, so that a reader can run the commands of both.
  const who = '"email":"grace@example.com","password":"under the old oak"';
  return [
    `${curl} ${gateway}/v1/accounts ${json} -d '{"name":"Grace",${who}}'`,
    // E-mails about orders go to verified addresses only.
    operatorCommand('shop', 'accounts verify-email grace@example.com'),
    `TOKEN=$(${curl} ${gateway}/v1/tokens ${json} -d '{${who}}' | ${take('access_token')})`,
    `ORDER=$(${curl} ${gateway}/v1/orders ${bearer} ${json} -d ` +
      `'{"items":[{"productId":"${productId}","quantity":2}]}' | ${take('id')})`,
    `${curl} -X POST ${gateway}/v1/orders/$ORDER/cancel ${bearer}`,
    `until ${curl} ${gateway}/v1/orders/$ORDER ${bearer} | grep '"stockReleased":{"state":"done"'; do sleep 1; done`,
  ];
}
