// The search of the documentation finds what people type. The browser runs the same code over the same texts.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import MiniSearch from 'minisearch';
import { startGateway, type TestGateway } from '../../gateway/test/start-gateway.ts';
import type { SearchEntry } from '../../web/src/docs/search-index.ts';

/** The script of the pages. */
interface Engine {
  createSearch(index: typeof MiniSearch, entries: SearchEntry[]): (query: string) => { readonly id: string }[];
}
const engine = new URL('../../web/src/docs/assets/search-engine.js', import.meta.url).href;

const folder = fileURLToPath(new URL('../../gateway/config', import.meta.url));

let gateway: TestGateway;
let entries: SearchEntry[];
/** The addresses of what a query finds, the best ones first. */
let parseAddresses: (query: string) => string[];

beforeAll(async () => {
  gateway = await startGateway({ GATEWAY_CONFIG_DIR: folder });
  entries = (await (await fetch(new URL('/docs/search.json', gateway.url))).json()) as SearchEntry[];
  const { createSearch } = (await import(engine)) as Engine;
  const search = createSearch(MiniSearch, entries);
  parseAddresses = (query) => search(query).map(({ id }) => id);
});
afterAll(() => gateway.stop());

/** What people type → a page that has to be among the first five results. */
const asked: readonly (readonly [string, string])[] = [
  ['cors', '/docs/deploying/other-origins'],
  ['CORS_ORIGINS', '/docs/settings#gateway'],
  ['environment variables', '/docs/settings'],
  ['log level', '/docs/settings#every-process'],
  ['currency', '/docs/settings#orders-catalogue'],
  ['login', '/docs/reference/issue-token'],
  ['log in', '/docs/reference/issue-token'],
  ['sign-in', '/docs/reference/issue-token'],
  ['logout', '/docs/reference/revoke-token'],
  ['sign up', '/docs/reference/register-account'],
  ['register', '/docs/reference/register-account'],
  ['forgot password', '/docs/accounts#replace-a-forgotten-password'],
  ['reset password', '/docs/reference/request-password-reset'],
  ['refresh token', '/docs/reference/issue-token'],
  ['api key', '/docs/accounts#machines'],
  ['rate limit', '/problems/too-many-requests'],
  ['throttling', '/problems/too-many-requests'],
  ['429', '/problems/too-many-requests'],
  ['tracking', '/docs/reference/ship-order'],
  ['shipped', '/docs/reference/ship-order'],
  ['shipping', '/docs/shipping-taxes-discounts#shipping'],
  ['backup', '/docs/command-line#backup-and-restore'],
  ['restore', '/docs/command-line#backup-and-restore'],
  ['webhook', '/docs/webhooks#add-a-webhook'],
  ['webhooks', '/docs/webhooks#add-a-webhook'],
  ['refund', '/docs/taking-payments#refunds'],
  ['payment', '/docs/taking-payments#reporting-a-payment'],
  ['stripe', '/docs/stripe'],
  ['inventory', '/docs/staff#stock'],
  ['checkout', '/docs/reference/create-order'],
  ['cart', '/docs/reference/create-order'],
  ['cancel order', '/docs/reference/cancel-order'],
  ['search products', '/docs/reference/search-products'],
  ['full text', '/docs/filtering#searching-for-words'],
  ['facets', '/docs/filtering#facets'],
  ['paging', '/docs/pagination'],
  ['pagination', '/docs/pagination'],
  ['infinite scroll', '/docs/pagination'],
  ['offset', '/docs/migration'],
  ['etag', '/docs/getting-started#rules-for-all-operations'],
  ['optimistic locking', '/problems/precondition-failed'],
  ['idempotency', '/docs/idempotency'],
  ['duplicate order', '/docs/reference/create-order'],
  ['retry', '/docs/errors#repeating-a-request'],
  ['error codes', '/docs/errors'],
  ['401', '/problems/unauthenticated'],
  ['timeout', '/problems/gateway-timeout'],
  ['jwt', '/docs/reference/get-key-set'],
  ['sso', '/docs/identity-provider'],
  ['keycloak', '/docs/identity-provider'],
  ['admin', '/docs/staff'],
  ['permissions', '/problems/forbidden'],
  ['gdpr', '/docs/accounts#have-an-account-erased'],
  ['delete account', '/docs/accounts#have-an-account-erased'],
  ['export my data', '/docs/accounts#take-your-data-with-you'],
  ['csv import', '/docs/staff#imports'],
  ['bulk upload', '/docs/staff#imports'],
  ['sku', '/problems/sku-in-use'],
  ['smtp', '/docs/deploying/docker-compose#tasks'],
  ['email templates', '/docs/emails#change-the-texts'],
  ['translation', '/docs/emails#languages'],
  ['docker', '/docs/deploying/docker-compose'],
  ['k8s', '/docs/deploying/kubernetes'],
  ['https certificate', '/docs/deploying/docker-compose#tasks'],
  ['nginx', '/docs/deploying/proxy'],
  ['failover', '/docs/deploying/failover'],
  ['read replica', '/docs/growing/read-replicas'],
  ['scaling', '/docs/growing/replicas'],
  ['prometheus', '/docs/deploying/monitoring'],
  ['grafana', '/docs/deploying/monitoring'],
  ['alerts', '/docs/runbooks'],
  ['dead letter', '/docs/runbooks/dead-letters'],
  ['upgrade', '/docs/deploying/upgrades'],
  ['rotate secrets', '/docs/deploying/secrets'],
  ['time zone', '/docs/getting-started#rules-for-all-operations'],
  ['swagger', '/docs#downloads'],
  ['postman', '/docs#downloads'],
  ['python', '/docs/reference'],
  ['sdk', '/docs/getting-started#in-typescript'],
  ['kuberntes', '/docs/deploying/kubernetes'],
  ['idempotncy', '/docs/idempotency'],
  ['nextCursor', '/docs/pagination'],
  ['phone_number', '/docs/reference/update-account'],
];

describe('the search of the documentation', () => {
  it.each(asked)('the search of the documentation finds for "%s" among its first results %s', (query, address) => {
    expect(parseAddresses(query).slice(0, 5)).toContain(address);
  });

  it('the search of the documentation knows at least 52 words that people type', () => {
    expect(new Set(asked.map(([query]) => query)).size).toBeGreaterThanOrEqual(52);
  });

  it('the search of the documentation has every guide, runbook, operation and problem, and only addresses that exist', async () => {
    const addresses = entries.map(({ address }) => address);
    expect(new Set(addresses).size).toBe(addresses.length);
    expect(addresses).toEqual(
      expect.arrayContaining(['/docs/growing', '/docs/runbooks/outbox-lag', '/docs/reference/ship-order', '/problems']),
    );
    const pages = new Map<string, string>();
    for (const address of addresses) {
      const [path = '', anchor] = address.split('#');
      if (!pages.has(path)) {
        const answer = await fetch(new URL(path, gateway.url), { headers: { Accept: 'text/html' } });
        expect([address, answer.status]).toEqual([address, 200]);
        pages.set(path, await answer.text());
      }
      if (anchor !== undefined) expect(pages.get(path)).toContain(` id="${anchor}"`);
    }
  });

  it('the search of the documentation has plain text, without markup', () => {
    for (const { address, title, text } of entries)
      expect([
        address,
        /<\/?(?:p|a|li|ul|span|code|pre|table|div|h\d)[ >]|&(?:amp|lt|gt|quot|#)/.exec(`${title} ${text}`)?.[0],
      ]).toEqual([address, undefined]);
  });
});
