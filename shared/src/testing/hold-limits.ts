// Limits on unprocessed orders, for tests in which one account places many orders.

/** The limits are so high that no test reaches them, but the units of unprocessed orders are still counted. */
export const highHoldLimits = { HOLD_ORDERS: '1000000', HOLD_UNITS: '1000000', HOLD_NETWORK_UNITS: '1000000' };
