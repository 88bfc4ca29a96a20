// The list of the pages for language models (https://llmstxt.org).
import type { Chapter } from './chapters.ts';
import type { OperationView } from './reference/operation-view.ts';

export function llmsText(
  chapters: readonly Chapter[],
  operations: readonly OperationView[],
  services: readonly string[],
): string {
  const events = services.map((service) => `- [Events of ${service}](/docs/asyncapi/${service}.json): AsyncAPI 3.0`);
  return `# Shop API

> Accounts, orders and products of an online shop, as JSON over HTTP under \`/v1\`. Errors are problem documents (RFC 9457) with a \`code\`.

Log in with \`POST /v1/tokens\` and send \`Authorization: Bearer TOKEN\`. Send an \`Idempotency-Key\` with each POST that creates or changes
something. Unknown members and parameters are refused.

## Contracts

- [OpenAPI document](/v1/openapi.json): every operation, OpenAPI 3.1
${events.join('\n')}

${chapters.map(chapter).join('\n\n')}

## Operations

${operations.map(({ method, path, summary, address }) => `- [${method} ${path}](${address}): ${summary}`).join('\n')}

## Optional

- [Problems](/problems): all problem codes, as JSON with \`Accept: application/json\`
- [Changelog](/docs/changelog.md)
`;
}

function chapter({ title, guides }: Chapter): string {
  return `## ${title}\n\n${guides.map((guide) => `- [${guide.title}](${guide.address}.md)`).join('\n')}`;
}
