// The operator's functions for e-mails. The command line calls these functions in its own process.
export { listEmails, type QueuedEmail, resendEmail } from './emails.ts';
export { findPersonalData } from './find-personal-data.ts';
export { traceEmails } from './trace-emails.ts';
