// The services' variables that the doctor reads itself, because it checks the things that they name.
import { type Environment, optional, readConfig, string } from '@shop/shared/runtime';

export type Wanted = ReturnType<typeof readWanted>;

/**
 * The configurations of the processes validate the values.
 * @throws ConfigError when one names a file that cannot be read
 */
export function readWanted(environment: Environment) {
  return readConfig(environment, {
    currency: string('SHOP_CURRENCY', 'EUR'),
    jwksUrl: optional(string('JWKS_URL')),
    mailDir: optional(string('MAIL_DIR')),
    smtpUrl: optional(string('SMTP_URL')),
  });
}
