// The list of all problems for the guide about errors, from the table that the shop refuses by.
import { type ProblemCode, problems } from '@shop/shared/protocol';
import { problemTexts } from '../problems/problem-texts.ts';

/** A list in Markdown: status, code with a link to its page, when it happens. */
export function problemList(): string {
  return Object.entries(problems)
    .map(
      ([code, { status }]) => `- ${status} [\`${code}\`](/problems/${code}): ${problemTexts[code as ProblemCode].when}`,
    )
    .join('\n');
}
