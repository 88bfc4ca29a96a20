// What a helper throws when the shop refuses: the problem document as an error.
import type { components } from './contract.ts';

export type ProblemDocument = components['schemas']['GatewayProblem'];

/** A problem document (RFC 9457) as it came; `code` says which. */
export class Refusal extends Error {
  readonly code: string;
  readonly status: number;
  readonly problem: ProblemDocument;

  constructor(answer: unknown) {
    const problem = answer as ProblemDocument;
    super(problem.detail);
    this.name = 'Refusal';
    this.code = problem.code;
    this.status = problem.status;
    this.problem = problem;
  }
}
