// What the doctor itself reads of the services' variables, because it looks at what they name.
import { type Environment, optional, readConfig, text } from '@shop/shared/runtime';

export type Wanted = ReturnType<typeof readWanted>;

/**
 * Whether the values are right is found by the readers of the processes.
 * @throws ConfigError when one names a file that cannot be read
 */
export function readWanted(environment: Environment) {
  return readConfig(environment, {
    currency: text('SHOP_CURRENCY', 'EUR'),
    jwksUrl: optional(text('JWKS_URL')),
    mailDir: optional(text('MAIL_DIR')),
    smtpUrl: optional(text('SMTP_URL')),
  });
}
