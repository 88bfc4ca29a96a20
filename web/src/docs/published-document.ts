// The published OpenAPI document: the contracts of the public operations, with the limits of each operation.
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleDocument, type Node, outlineOperations, readDocument } from '@shop/shared/contract';
import { withProblemExamples } from '../problems/problem-examples.ts';
import { joinContracts } from './join-contracts.ts';
import { openResponses } from './open-responses.ts';

/** The contract of a service with its published operations. */
export interface PublishedContract {
  /** Its OpenAPI document, in the folder of the service. */
  readonly file: string;
  /**
   * Returns a description of the limits of an operation.
   * @param needsToken whether the gateway requires a token; only then the account is known
   */
  limitText(operationId: string, needsToken: boolean): string;
}

const frame = fileURLToPath(new URL('shop.openapi.yaml', import.meta.url));

/**
 * Returns the public OpenAPI document.
 * @param options `limits`: whether the description of each operation states its limit; `closed`: whether responses
 * reject further members, as the services' own documents do
 */
export function publishedDocument(
  contracts: readonly PublishedContract[],
  { limits = true, closed = false }: { readonly limits?: boolean; readonly closed?: boolean } = {},
): Node {
  const parts = contracts.map(({ file, limitText }) => {
    const document = withProblemExamples(readDocument(file));
    const access = new Map(
      outlineOperations(document).map(({ operationId, security }) => [operationId, security.access]),
    );
    const limitOf = (id: string) => (limits ? limitText(id, access.get(id) === 'required') : undefined);
    return { name: basename(dirname(file)), document, limitOf };
  });
  const joined = joinContracts(withProblemExamples(bundleDocument(frame)), parts);
  return closed ? joined : openResponses(joined);
}
