// Describes the limits of an operation for the published contract.
import type { ApiLimit, OperationLimit } from './limit-config.ts';

/** Each bound of an operation beside its rate, after "At most …". */
const boundTexts: Readonly<Record<Exclude<keyof OperationLimit, 'rate'>, string>> = {
  failuresPerEmailAndAddress: 'refused attempts a minute for one e-mail address from one client address',
  failuresPerEmail: 'refused attempts a minute for one e-mail address',
  attemptsPerEmailAndAddress: 'attempts a minute for one e-mail address from one client address',
  attemptsPerEmail: 'attempts a minute for one e-mail address',
  conflictsPerCaller: 'conflicts (409) a minute',
  forbiddenPerAccount: 'refusals with 403 a minute for one account',
  streamsPerAddress: 'open streams of one address',
};

/**
 * States the limits of an operation.
 * @param needsToken whether the gateway requires a token; only then does it know the account
 */
export function limitText({ rate, operations }: ApiLimit, operationId: string, needsToken: boolean): string {
  const own: Partial<OperationLimit> = operations?.[operationId] ?? {};
  const { steady, seconds, reserve, reserveSeconds, accountsPerAddress } = own.rate ?? rate;
  const more = reserve === undefined ? '' : `, and ${reserve} more within ${period(reserveSeconds ?? seconds)}`;
  const callers = needsToken ? 'each account or, without one, each address' : 'each address';
  const bounds = Object.entries(boundTexts).flatMap(([name, text]) => {
    const bound = own[name as keyof typeof boundTexts];
    return bound === undefined ? [] : [`At most ${bound} ${text}.`];
  });
  if (needsToken && accountsPerAddress !== undefined)
    bounds.unshift(
      `At most ${accountsPerAddress * steady} requests within ${period(seconds)} for all accounts of one address.`,
    );
  return [`Limit: ${steady} requests within ${period(seconds)}${more}, for ${callers}.`, ...bounds].join(' ');
}

function period(seconds: number): string {
  if (seconds === 1) return 'a second';
  if (seconds === 60) return 'a minute';
  return seconds % 60 === 0 ? `${seconds / 60} minutes` : `${seconds} seconds`;
}
