// Environment → one typed frozen object. All mistakes are reported together.
import { type Environment, keyList, oneOf, readConfig, secretList, url } from '@shop/shared/runtime';
import { callerVariables, serviceVariables } from '@shop/shared/service';
import { networkList } from './webhooks/address-rules.ts';

/** Where the scopes of the owners of webhooks come from: accounts, or the last token of each. */
const webhookScopes = oneOf('WEBHOOK_SCOPES', ['accounts', 'token'], 'accounts');

export function readEnvironment(environment: Environment) {
  return readConfig(environment, {
    ...serviceVariables,
    ...callerVariables,
    cursorKeys: keyList('CURSOR_KEYS'),
    /** Encrypt the secrets of webhooks, and sign their requests. */
    webhookKeys: secretList('WEBHOOK_KEYS'),
    /** The service that returns the present scopes of the owners of webhooks. */
    accountsUrl: url('ACCOUNTS_URL', ['http', 'https']),
    webhookScopes,
    /** Networks that are not public and that requests of webhooks may reach. */
    webhooksAllow: networkList('WEBHOOKS_ALLOW'),
  });
}

/** Returns the configuration of the operator's functions. */
export function readDatabaseConfig(environment: Environment) {
  return readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
}

/** Returns the configuration of the operator's function that explains deliveries. */
export function readScopesConfig(environment: Environment) {
  return readConfig(environment, { webhookScopes });
}
