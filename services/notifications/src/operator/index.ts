// What operators ask the notifications service. The command line calls this function in its own process.
export { listEmails, type QueuedEmail, resendEmail } from './emails.ts';
export { findPersonalData } from './find-personal-data.ts';
export { traceEmails } from './trace-emails.ts';
