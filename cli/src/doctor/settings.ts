// What the doctor itself reads of the services' variables, because it looks at what they name.
import { type Environment, optional, readConfig, string } from '@shop/shared/runtime';

export type Wanted = ReturnType<typeof readWanted>;

/**
 * Whether the values are right is found by the readers of the processes.
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
