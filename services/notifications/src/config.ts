// Reads the environment of the notifications service as one frozen object. All configuration errors are reported
// together.
import { fileURLToPath } from 'node:url';
import {
  type Environment,
  integer,
  optional,
  readConfig,
  readTogether,
  string,
  url,
  type Variable,
  withoutPassword,
} from '@shop/shared/runtime';
import { callerVariables, serviceVariables } from '@shop/shared/service';
import { readTemplates } from './email/templates.ts';

/**
 * @throws ConfigError naming every variable that is missing or wrong, and the first error in the templates of e-mails
 */
export function readEnvironment(environment: Environment) {
  const { variables, templates } = readTogether(environment, { variables: readVariables, templates: readTexts });
  return { ...variables, templates };
}

function readTexts(environment: Environment) {
  const { folder, language } = readConfig(environment, {
    /** The folder of the e-mail templates, if the operator has changed them. */
    folder: string('EMAIL_TEMPLATES_DIR', fileURLToPath(new URL('../templates', import.meta.url))),
    /** The language of e-mails to recipients who chose no language, or one without templates. */
    language: string('EMAIL_LANGUAGE', 'en'),
  });
  return readTemplates(folder, language);
}

function readVariables(environment: Environment) {
  return readConfig(environment, {
    ...serviceVariables,
    /** The SMTP server. Without one, e-mails are written as files. */
    smtpUrl: optional(url('SMTP_URL', ['smtp', 'smtps'])),
    /** The folder of the `.eml` files. */
    mailDir: string('MAIL_DIR', '.data/mail'),
    mailFrom: mailAddress('MAIL_FROM', 'orders@shop.example'),
    // INTERNAL_SECRET also decrypts the tokens of e-mails, which accounts encrypts.
    ...callerVariables,
    /** The links in e-mails with a token. Without them, the e-mails contain the token and the request that uses it. */
    emailVerificationUrl: optional(linkTemplate('EMAIL_VERIFICATION_URL')),
    emailChangeUndoUrl: optional(linkTemplate('EMAIL_CHANGE_UNDO_URL')),
    passwordResetUrl: optional(linkTemplate('PASSWORD_RESET_URL')),
    shopName: string('SHOP_NAME', 'The Shop'),
    /**
     * The number of e-mails that one address gets immediately, and then each hour; further ones are sent later. E-mails
     * about orders and e-mails about the account are counted separately. A client's network may cause three times as many
     * e-mails with tokens.
     */
    emailsPerHour: integer('EMAILS_PER_HOUR', { min: 1, max: 1_000_000, fallback: 20 }),
  });
}

/** Reads the URL of a page of the storefront. `{token}` is the placeholder of the token. */
function linkTemplate(name: string): Variable<string> {
  const address = url(name, ['https', 'http']);
  return {
    name,
    fallback: undefined,
    shown: withoutPassword,
    parse(value) {
      if (!value.includes('{token}')) throw new Error('must contain {token}, where the token is inserted');
      address.parse(value.replaceAll('{token}', 'token'));
      return value;
    },
  };
}

/** Defines a variable with an e-mail address without a display name. */
function mailAddress(name: string, fallback: string): Variable<string> {
  return {
    name,
    fallback,
    parse(value) {
      if (!/^[^\s@<>"(),:;[\]\\]+@[a-z0-9.-]+$/i.test(value))
        throw new Error('must be an e-mail address, such as orders@shop.example');
      return value;
    },
  };
}
