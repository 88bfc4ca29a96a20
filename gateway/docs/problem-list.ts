// The list of all problems for the guide about errors, from the table that the shop refuses by.
import { type ProblemCode, problems } from '@shop/shared/protocol';
import { problemTexts } from '../plugin/problem-texts.ts';

/** A table in Markdown: status, code with a link to its page, when it happens. */
export function problemList(): string {
  const rows = Object.entries(problems).map(([code, { status }]) => {
    const when = problemTexts[code as ProblemCode].when.replaceAll('|', '\\|');
    return `| ${status} | [\`${code}\`](/problems/${code}) | ${when} |`;
  });
  return ['| Status | Code | When it happens |', '| --- | --- | --- |', ...rows].join('\n');
}
