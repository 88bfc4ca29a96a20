// The values of options of the command line. Its help needs them, and nothing else of the service.
export { statuses } from '../order/order-status.ts';
export { returnStatuses } from '../returns/return-status.ts';
