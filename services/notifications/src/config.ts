// The environment of the notifications service as one frozen object. All mistakes are reported together.
import { type Environment, integer, optional, readConfig, string, url, type Variable } from '@shop/shared/runtime';
import { serviceVariables } from '@shop/shared/service';

/** @throws ConfigError naming every variable that is missing or wrong */
export function readEnvironment(environment: Environment) {
  return readConfig(environment, {
    ...serviceVariables,
    /** The SMTP server. Without one, e-mails are written as files. */
    smtpUrl: optional(url('SMTP_URL', ['smtp', 'smtps'])),
    /** The folder of the `.eml` files. */
    mailDir: string('MAIL_DIR', '.data/mail'),
    mailFrom: mailAddress('MAIL_FROM', 'orders@shop.example'),
    shopName: string('SHOP_NAME', 'The Shop'),
    /**
     * E-mails about orders, and as many about the account, that one address gets at once and then within each hour;
     * more are sent later.
     */
    emailsPerHour: integer('EMAILS_PER_HOUR', { min: 1, max: 1_000_000, fallback: 20 }),
  });
}

/** A bare e-mail address. */
function mailAddress(name: string, fallback: string): Variable<string> {
  return {
    name,
    fallback,
    parse(value) {
      if (!/^[^\s@<>"(),:;[\]\\]+@[a-z0-9.-]+$/i.test(value))
        throw new Error(`must be an e-mail address, not "${value}"`);
      return value;
    },
  };
}
