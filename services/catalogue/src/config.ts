// Environment → one typed frozen object; every mistake is reported at once.
import { type Environment, integer, keyList, readConfig, secret, text, url, type Variable } from '@shop/shared/runtime';

export function readCatalogueConfig(environment: Environment) {
  return readConfig(environment, {
    databaseUrl: url('DATABASE_URL', ['postgres', 'postgresql']),
    eventsUrl: url('EVENTS_URL', ['amqp', 'amqps', 'postgres', 'postgresql']),
    host: text('HOST', '127.0.0.1'),
    port: integer('PORT', { min: 0, max: 65_535, fallback: 8083 }),
    jwksUrl: url('JWKS_URL', ['http', 'https']),
    jwtIssuer: text('JWT_ISSUER'),
    jwtAudience: text('JWT_AUDIENCE'),
    internalSecret: secret('INTERNAL_SECRET'),
    cursorKeys: keyList('CURSOR_KEYS'),
    currency: currency('SHOP_CURRENCY', 'EUR'),
  });
}

/** A currency of ISO 4217 that this machine knows the decimals of. */
export function currency(name: string, fallback: string): Variable<string> {
  return {
    name,
    fallback,
    parse(code) {
      if (!Intl.supportedValuesOf('currency').includes(code)) {
        throw new Error(`must be a currency code of ISO 4217 in capitals, such as EUR, not "${code}"`);
      }
      return code;
    },
  };
}
