// The JSON of an answer as tests read it.

/**
 * The members that tests go on with, each with the one type that it has in every contract: the client holds each answer against
 * its contract, which also says whether the member is there. All others are only compared.
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
  readonly pagination: AnswerBody;
  readonly nextCursor: string | undefined;
  readonly cancellation: AnswerBody;
  readonly stockReleased: AnswerBody;
  readonly [member: string]: unknown;
}
