// Environment → one typed frozen object. All mistakes are reported together.
import { type Environment, keyList, oneOf, readConfig, secretList, url } from '@shop/shared/runtime';
import { callerVariables, serviceVariables } from '@shop/shared/service';
import { networkList } from './webhooks/address-rules.ts';

export function readEnvironment(environment: Environment) {
  return readConfig(environment, {
    ...serviceVariables,
    ...callerVariables,
    cursorKeys: keyList('CURSOR_KEYS'),
    /** Encrypt the secrets of webhooks, and sign their requests. */
    webhookKeys: secretList('WEBHOOK_KEYS'),
    /** The service that returns the present scopes of the owners of webhooks. */
    accountsUrl: url('ACCOUNTS_URL', ['http', 'https']),
    /** Where the scopes of these owners come from: accounts, or the last token of each. */
    webhookScopes: oneOf('WEBHOOK_SCOPES', ['accounts', 'token'], 'accounts'),
    /** Networks that are not public and that requests of webhooks may reach. */
    webhooksAllow: networkList('WEBHOOKS_ALLOW'),
  });
}

/** Returns the configuration of the operator's functions. */
export function readDatabaseConfig(environment: Environment) {
  return readConfig(environment, { databaseUrl: serviceVariables.databaseUrl });
}
