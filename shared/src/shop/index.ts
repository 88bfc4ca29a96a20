// What all services of this shop agree on: its currency, countries, e-mail addresses, log-ins, services and
// installation.

export { country, countryExpected, isCountry } from './country.ts';
export { currency, findDecimals } from './currency.ts';
export { type EmailAddress, emailKey, parseEmail, unparsedEmailKey } from './email-address.ts';
export { type CommandPurpose, type Installation, operatorCommand, readInstallation } from './installation.ts';
export { type Login, readLogins } from './logins.ts';
export { type ServiceName, serviceNames } from './services.ts';
