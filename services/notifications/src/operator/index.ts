// What operators ask the notifications service. The command line calls this function in its own process.
export { traceEmails } from './trace-emails.ts';
