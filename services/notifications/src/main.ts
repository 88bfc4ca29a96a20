// Starts notifications.
import { fileURLToPath } from 'node:url';
import { startPruning } from '@shop/shared/database';
import { startErasing, startService } from '@shop/shared/service';
import { readEnvironment } from './config.ts';
import { folderMailer, smtpMailer } from './email/mailer.ts';
import { createTokenOpener } from './email/token-email.ts';
import { onAccountErased } from './handlers/on-account-erased.ts';
import { onAccountRegistered } from './handlers/on-account-registered.ts';
import { onAccountUpdated } from './handlers/on-account-updated.ts';
import { onEmailTokenIssued } from './handlers/on-email-token-issued.ts';
import { onOrderCancelled } from './handlers/on-order-cancelled.ts';
import { onOrdersCreated } from './handlers/on-order-created.ts';
import { onOrderLinesCancelled } from './handlers/on-order-lines-cancelled.ts';
import { onOrderPaid } from './handlers/on-order-paid.ts';
import { onOrderShipped } from './handlers/on-order-shipped.ts';
import { onRefundDone } from './handlers/on-refund-done.ts';
import { handlerOfRefundDue } from './handlers/on-refund-due.ts';
import { handlerOfReturn } from './handlers/on-return.ts';
import { onWebhookFailing } from './handlers/on-webhook-failing.ts';
import { erasingEmails } from './jobs/erase-emails.ts';
import { startSendLoop } from './jobs/send-loop.ts';
import { operations } from './operations.ts';

await startService({
  name: 'notifications',
  folder: fileURLToPath(new URL('..', import.meta.url)),
  readConfig: readEnvironment,
  poolSize: 16, // twelve events in progress, the sender, and the readiness check
  async build({ config, database, log, onStop }) {
    const { smtpUrl } = config;
    const mailer = smtpUrl === undefined ? await folderMailer(config.mailDir) : smtpMailer(smtpUrl);
    onStop('mailer', () => mailer.close());
    const tokens = createTokenOpener(config.internalSecrets, {
      'email-verification': config.emailVerificationUrl,
      'email-change-undo': config.emailChangeUndoUrl,
      'password-reset': config.passwordResetUrl,
    });
    const { shopName, mailFrom: address, templates } = config;
    const sender = { shopName, address, tokens, templates };
    const rateLimit = { burst: config.emailsPerHour, secondsEach: 3_600 / config.emailsPerHour };
    const unusedLimits = { table: 'recipient_paces', since: 'reserved_until', hours: 1 };
    onStop('pruning rate limits', startPruning(database.pool, [unusedLimits], log));
    onStop('erasing e-mails', startErasing({ database, log, erase: erasingEmails(mailer) }));
    const sending = startSendLoop({ database, mailer, sender, log, rateLimit });
    onStop('sending', () => sending.close());
    const wake = (): void => sending.wake();
    return {
      operations,
      context: { database },
      needsBroker: true,
      consume: {
        name: 'notifications.mail',
        handlers: {
          'account.registered.v1': (event, tx) => onAccountRegistered(event, tx, wake),
          'account.erased.v1': onAccountErased,
          'account.updated.v1': (event, tx) => onAccountUpdated(event, tx, rateLimit, wake),
          'email-token.issued.v1': (event, tx) => onEmailTokenIssued(event, tx, rateLimit, wake),
          'order.created.v1': { handleAll: (events, tx) => onOrdersCreated(events, tx, wake) },
          'order.shipped.v1': (event, tx) => onOrderShipped(event, tx, wake),
          'order.cancelled.v1': (event, tx) => onOrderCancelled(event, tx, wake),
          'order.lines-cancelled.v1': (event, tx) => onOrderLinesCancelled(event, tx, wake),
          'order.paid.v1': (event, tx) => onOrderPaid(event, tx, wake),
          'refund.due.v1': handlerOfRefundDue(wake),
          'refund.done.v1': (event, tx) => onRefundDone(event, tx, wake),
          'return.requested.v1': handlerOfReturn('order-return-requested', wake),
          'return.approved.v1': handlerOfReturn('order-return-approved', wake),
          'return.refused.v1': handlerOfReturn('order-return-refused', wake),
          'return.received.v1': handlerOfReturn('order-return-received', wake),
          'webhook.failing.v1': (event, tx) => onWebhookFailing(event, tx, wake),
        },
      },
    };
  },
});
