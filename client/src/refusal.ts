// What a helper throws when it is refused: the shop's problem document as an error.
import type { components } from './contract.ts';

type Schemas = components['schemas'];

/**
 * Of any part of the shop: the faults of the orders have every member that the others' have, the catalogue's query both
 * spellings.
 */
export type ProblemDocument = Schemas['Problem'];

/** A refusal of a request. `code` identifies the reason. */
export class Refusal extends Error {
  readonly status: number;
  /** RFC 9457; undefined when something else than the shop has answered, such as a proxy with a page of its own. */
  readonly problem: ProblemDocument | undefined;

  /** @param content the body of the answer, read */
  constructor({ status, statusText }: Response, content: unknown) {
    const problem = isProblem(content) ? content : undefined;
    super(problem?.detail ?? `The answer was ${status} ${statusText}`.trimEnd());
    this.name = 'Refusal';
    this.status = status;
    this.problem = problem;
  }

  /** Of the list of problems; undefined without a problem document. */
  get code(): string | undefined {
    return this.problem?.code;
  }
}

function isProblem(content: unknown): content is ProblemDocument {
  if (typeof content !== 'object' || content === null) return false;
  const { code, detail } = content as Readonly<Record<string, unknown>>;
  return typeof code === 'string' && typeof detail === 'string';
}
