// The services' variables that the doctor reads itself, because it checks the folders and servers that they name.
import { type Environment, optional, readConfig, string } from '@shop/shared/runtime';

export type Wanted = ReturnType<typeof readWanted>;

/**
 * Reads the settings that the doctor checks. The processes' own configurations validate the values.
 * @throws ConfigError when a variable names a file that cannot be read
 */
export function readWanted(environment: Environment) {
  return readConfig(environment, {
    currency: string('SHOP_CURRENCY', 'EUR'),
    jwksUrl: optional(string('JWKS_URL')),
    mailDir: optional(string('MAIL_DIR')),
    smtpUrl: optional(string('SMTP_URL')),
  });
}
