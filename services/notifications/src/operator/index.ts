// The operator's functions for e-mails. The command line calls these functions in its own process.
export { isNotified } from '../on-refund-due.ts';
export { type EmailedOrder, endEmails, readEmailedOrders, readRecipientVersions } from './compare-emails.ts';
export { listEmails, type QueuedEmail, resendEmail } from './emails.ts';
export { findPersonalData } from './find-personal-data.ts';
export { traceEmails } from './trace-emails.ts';
