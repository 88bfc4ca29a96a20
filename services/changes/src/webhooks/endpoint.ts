// What a pass learns of an endpoint from its responses.

import { afterFailure, afterSuccess, type EndpointState, isInTrouble, type Stage } from './retry.ts';
import type { Attempt } from './send-request.ts';

/** The largest number of requests to one webhook at the same time. */
const mostConcurrent = 4;

export class Endpoint {
  #state: EndpointState;
  #isGone = false;
  #notBefore: Date | undefined;
  #hasFailed = false;
  #concurrency: number;

  constructor(state: EndpointState) {
    this.#state = state;
    this.#concurrency = this.isInTrouble ? 1 : mostConcurrent;
  }

  /** Whether the endpoint as a whole fails. It gets one request at a time then. */
  get isInTrouble(): boolean {
    return isInTrouble(this.#state);
  }

  /** Whether no further request may be sent before the pause. */
  get isStopped(): boolean {
    return this.#isGone || this.#notBefore !== undefined || (this.#hasFailed && this.isInTrouble);
  }

  /** The number of requests that may be sent at the same time. It grows after a trouble. */
  get concurrency(): number {
    return this.#concurrency;
  }

  /** Takes the state of a row that was read again. */
  continueWith(state: EndpointState): void {
    this.#state = state;
    this.#hasFailed = false;
  }

  /** Whether it has been without a success for so many milliseconds. */
  hasFailedFor(milliseconds: number): boolean {
    const { failingSince } = this.#state;
    return failingSince !== null && Date.now() - failingSince.getTime() >= milliseconds;
  }

  /** @param isRetry whether the message failed before: further failures of a few messages do not show a trouble */
  record({ startedAt, status, error, notBefore }: Attempt, isRetry: boolean): void {
    if (error === undefined) {
      this.#concurrency = Math.min(mostConcurrent, this.#concurrency * 2);
      this.#state = afterSuccess(this.#state);
      this.#hasFailed = false;
      return;
    }
    this.#hasFailed = true;
    this.#isGone ||= status === 410;
    if (notBefore !== undefined && notBefore.getTime() > Date.now()) this.#notBefore = notBefore;
    const { failures, failingSince } = this.#state;
    const counted = isRetry && !this.isInTrouble ? 0 : 1;
    this.#state = { ...this.#state, failures: failures + counted, failingSince: failingSince ?? startedAt };
  }

  /**
   * Returns what the pass stores, and what the owner is told.
   * @param isAlone whether nothing else can be sent before a message that failed
   */
  result(isAlone: boolean, now = new Date()): { readonly state: EndpointState; readonly stage?: Stage } {
    if (!this.#hasFailed && !this.#isGone && this.#notBefore === undefined) return { state: this.#state };
    return afterFailure(this.#state, { isGone: this.#isGone, isAlone, notBefore: this.#notBefore, now });
  }
}
