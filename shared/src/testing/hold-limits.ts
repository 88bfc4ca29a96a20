// The limits of what one account may hold, for tests in which one account places many orders.

/** No test reaches these limits, and what accounts hold is counted all the same. */
export const highHoldLimits = { HOLD_ORDERS: '1000000', HOLD_UNITS: '1000000' };
