// What the adapter needs of a payment provider. Another provider needs one file that implements this.

/** A payment that the provider has received, or a refund. Amounts are in the provider's minor units. */
export interface Movement {
  readonly kind: 'payment' | 'refund';
  /** The provider's id. */
  readonly reference: string;
  /** Undefined when the money is not for an order of the shop. */
  readonly orderId: string | undefined;
  readonly amount: number;
  /** A code of ISO 4217 in capitals. */
  readonly currency: string;
  /** `open`: the provider has not paid the refund yet, or waits for the customer. Payments are `done`. */
  readonly state: 'done' | 'open' | 'failed';
}

export interface Payment extends Movement {
  /** Every refund of this payment, also those that failed. */
  readonly refunds: readonly Movement[];
}

export interface RefundRequest {
  /** The reference of the payment. */
  readonly payment: string;
  readonly orderId: string;
  readonly amount: number;
  /** The provider makes one refund for each key. It refuses a key that is used again with another amount or payment. */
  readonly key: string;
}

export interface Provider {
  /** The decimals of the minor units of a currency. @throws for a currency that the provider does not support */
  decimalsOf(currency: string): number;
  /** Begins a payment. The page of the shop completes it with what is returned. */
  createPayment(order: {
    readonly orderId: string;
    readonly amount: number;
    readonly currency: string;
  }): Promise<object>;
  /**
   * Reads the body of a webhook, and the state that its payment or refund has now. Undefined when it is about anything
   * else.
   * @throws UnverifiedError when the provider has not signed the body
   */
  readReport(body: Buffer, signature: string): Promise<Movement | undefined>;
  /** Lists what was received and refunded for an order. Refunds are complete; a new payment may be missing. */
  paymentsOf(orderId: string): Promise<readonly Payment[]>;
  /** Lists every payment that was received and every refund, of those that were created since a time. */
  movementsSince(time: Date): AsyncIterable<Movement>;
  refund(request: RefundRequest): Promise<void>;
}

export class UnverifiedError extends Error {}
