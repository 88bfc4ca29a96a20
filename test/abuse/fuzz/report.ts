// The figures of a run, and its faults.
import type { SentRequest } from '../raw-http/send.ts';

export interface Fault {
  readonly operationId: string;
  /** The number of the request within the run. */
  readonly index: number;
  readonly deviations: readonly string[];
  readonly curl: string;
  readonly answer: string;
}

export class Report {
  /** operationId → status → requests. */
  readonly counts = new Map<string, Map<number, number>>();
  /** The first fault of each kind, with the number of all of its kind. */
  readonly faults = new Map<string, { readonly first: Fault; count: number }>();
  requests = 0;
  /** Why the run has ended before its last request. */
  failure: unknown;

  count(operationId: string, status: number): void {
    const ofOperation = this.counts.get(operationId) ?? new Map<number, number>();
    this.counts.set(operationId, ofOperation);
    ofOperation.set(status, (ofOperation.get(status) ?? 0) + 1);
    this.requests += 1;
  }

  /** @returns whether it is the first one of its kind */
  add(fault: Fault): boolean {
    const kind = `${fault.operationId}: ${fault.deviations.join('; ')}`.slice(0, 300);
    const known = this.faults.get(kind);
    if (known === undefined) this.faults.set(kind, { first: fault, count: 1 });
    else known.count += 1;
    return known === undefined;
  }

  /** The operations that were never answered with a success. */
  withoutSuccess(operationIds: readonly string[]): string[] {
    return operationIds.filter((operationId) => {
      const statuses = [...(this.counts.get(operationId)?.keys() ?? [])];
      return !statuses.some((status) => status >= 200 && status < 300);
    });
  }

  text(seed: number): string {
    const rows = [...this.counts].sort().map(([operationId, statuses]) => {
      const all = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      return `${operationId.padEnd(24)} ${all.join(', ')}`;
    });
    const faults = [...this.faults].map(([kind, { first, count }]) => `FAULT (${count}) ${kind}\n${faultText(first)}`);
    const failure = this.failure === undefined ? [] : [`The run ended early: ${String(this.failure)}`];
    const sum = `${this.requests} requests, seed ${seed}, ${faults.length} kinds of faults`;
    return [...rows, ...faults, ...failure, sum].join('\n');
  }
}

/** The request and the response of a fault. */
export function faultText({ index, curl, answer }: Fault): string {
  return `  request ${index}\n  ${curl}\n  ${answer}`;
}

const longest = 3_000;

/** The request as a command that sends it again. */
export function curlOf(url: string, { method, target, headers, body }: SentRequest): string {
  const fields = Object.entries(headers).map(
    ([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`,
  );
  const data = body === undefined ? [] : [`--data-binary ${quoted(body.toString('latin1'))}`];
  const words = [`curl -i --path-as-is -X ${method}`, ...fields, ...data, quoted(`${url}${target}`)].join(' ');
  return words.length <= longest ? words : `${words.slice(0, longest)}… (${words.length} characters)`;
}

/** A word of bash, with each byte that is not printable ASCII as an escape. */
function quoted(text: string): string {
  const escaped = text.replaceAll(
    /[^ -~]|['\\]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return `$'${escaped}'`;
}
