// The list of all problem codes for the guide about errors.
import { type ProblemCode, problems } from '@shop/shared/problem';
import { problemTexts } from '../problems/problem-texts.ts';

/** Returns a Markdown list: status, code with a link to its page, and when it happens. */
export function problemList(): string {
  return Object.entries(problems)
    .map(
      ([code, { status }]) => `- ${status} [\`${code}\`](/problems/${code}): ${problemTexts[code as ProblemCode].when}`,
    )
    .join('\n');
}
