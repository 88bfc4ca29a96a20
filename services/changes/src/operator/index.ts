// The operator's functions for changes. The command line calls these functions in its own process.
export { findPersonalData } from './find-personal-data.ts';
export { type HeldChange, heldChanges } from './held-changes.ts';
export {
  type ExplainedDelivery,
  explainChange,
  type ListedWebhook,
  listAttempts,
  listWebhooks,
  pauseWebhook,
  replayWebhook,
  resumeWebhook,
  scopesFrom,
  showWebhook,
} from './manage-webhooks.ts';
export { tailChanges } from './tail-changes.ts';
