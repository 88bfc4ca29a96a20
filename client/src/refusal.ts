// The error that helpers throw when the shop refuses a request: its problem document as an error.
import type { components } from './contract.ts';

type Schemas = components['schemas'];

/**
 * The problem document of any service. The faults of orders have every member of the others' faults, and the query of
 * the catalogue has both notations.
 */
export type ProblemDocument = Schemas['Problem'];

/** A refusal of a request. `code` identifies the reason. */
export class Refusal extends Error {
  readonly status: number;
  /**
   * The problem document (RFC 9457). Undefined when the response did not come from the shop, for example from a proxy.
   */
  readonly problem: ProblemDocument | undefined;

  /** @param content the parsed body of the response */
  constructor({ status, statusText }: Response, content: unknown) {
    const problem = isProblem(content) ? content : undefined;
    super(problem?.detail ?? `The answer was ${status} ${statusText}`.trimEnd());
    this.name = 'Refusal';
    this.status = status;
    this.problem = problem;
  }

  /** The code of the problem document; undefined without one. */
  get code(): string | undefined {
    return this.problem?.code;
  }
}

function isProblem(content: unknown): content is ProblemDocument {
  if (typeof content !== 'object' || content === null) return false;
  const { code, detail } = content as Readonly<Record<string, unknown>>;
  return typeof code === 'string' && typeof detail === 'string';
}
