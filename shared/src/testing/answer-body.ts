// The JSON of a response as tests read it.

/**
 * The members that tests read, each with the type that all contracts agree on. The test client validates each response
 * by its contract, so the members exist. All other members are only compared.
 */
export interface AnswerBody {
  readonly id: string;
  readonly kid: string;
  readonly name: string;
  readonly email: string;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly code: string;
  readonly pointer: string;
  readonly detail: string;
  readonly errors: readonly AnswerBody[];
  readonly problems: readonly AnswerBody[];
  readonly keys: readonly AnswerBody[];
  readonly items: readonly AnswerBody[];
  readonly steps: readonly AnswerBody[];
  readonly refusedLines: readonly AnswerBody[];
  readonly pagination: AnswerBody;
  readonly nextCursor: string | undefined;
  readonly cancellation: AnswerBody;
  readonly customer: AnswerBody;
  readonly stockReleased: AnswerBody;
  readonly [member: string]: unknown;
}
