// Environment → one typed frozen object; every mistake is reported at once.
import {
  choice,
  currency,
  type Environment,
  integer,
  keyList,
  readConfig,
  secret,
  share,
  text,
  url,
} from '@shop/shared/runtime';

export function readCatalogueConfig(environment: Environment) {
  return readConfig(environment, {
    databaseUrl: url('DATABASE_URL', ['postgres', 'postgresql']),
    eventsUrl: url('EVENTS_URL', ['amqp', 'amqps', 'postgres', 'postgresql']),
    host: text('HOST', '127.0.0.1'),
    port: integer('PORT', { min: 0, max: 65_535, fallback: 8083 }),
    jwksUrl: url('JWKS_URL', ['http', 'https']),
    jwtIssuer: text('JWT_ISSUER'),
    jwtAudience: text('JWT_AUDIENCE'),
    /** What an outside identity provider signs with; ours are ES256. */
    jwtAlgorithm: choice('JWT_ALGORITHM', ['ES256', 'EdDSA', 'RS256', 'PS256'], 'ES256'),
    internalSecret: secret('INTERNAL_SECRET'),
    /** How many of its answers it holds against its contract while it works. */
    contractWatch: share('CONTRACT_WATCH', 0),
    cursorKeys: keyList('CURSOR_KEYS'),
    currency: currency('SHOP_CURRENCY', 'EUR'),
    ordersUrl: url('ORDERS_URL', ['http', 'https']),
    /** How long stock is held before the orders service is asked whether the order exists. */
    reservationSeconds: integer('RESERVATION_SECONDS', { min: 1, max: 86_400, fallback: 60 }),
  });
}
