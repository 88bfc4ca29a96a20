// The circuit breaker of one address of an upstream: when at least half of the requests fail, the address gets no
// further requests.

const windowLength = 10_000;
const fewestRequests = 20;
const shortestOpen = 1_000;
const longestOpen = 8_000;

/**
 * Opens when at least half of at least 20 requests within 10 s failed. While open, it admits one trial request at a
 * time.
 */
export class CircuitBreaker {
  #since = 0;
  #requests = 0;
  #failures = 0;
  #openUntil = 0;
  #openings = 0;
  #trying = false;

  /** Whether only trial requests are admitted. */
  get open(): boolean {
    return this.#openings > 0;
  }

  /** Returns milliseconds until the next trial; 0 while requests are admitted. */
  wait(now: number): number {
    return this.open ? Math.max(0, this.#openUntil - now) : 0;
  }

  /** Returns whether this request is admitted. While the breaker is open, it is the trial. */
  admits(now: number): boolean {
    if (!this.open) return true;
    if (now < this.#openUntil) return false;
    this.#openUntil = now + shortestOpen;
    this.#trying = true;
    return true;
  }

  succeeded(now: number): void {
    if (this.#openings > 0) this.reset();
    this.#count(now);
  }

  failed(now: number): void {
    this.#count(now);
    this.#failures += 1;
    const tripped = this.#requests >= fewestRequests && this.#failures * 2 >= this.#requests;
    // While open, only a failed trial counts. Requests that began before the breaker opened provide no new information.
    if (this.#openings === 0 ? !tripped : !this.#trying) return;
    this.#trying = false;
    this.#openUntil = now + Math.min(shortestOpen * 2 ** this.#openings, longestOpen);
    this.#openings += 1;
  }

  /** Closes the breaker, because a probe has shown that the address has recovered. */
  reset(): void {
    this.#openings = 0;
    this.#trying = false;
    this.#requests = 0;
    this.#failures = 0;
  }

  #count(now: number): void {
    if (now - this.#since > windowLength) {
      this.#since = now;
      this.#requests = 0;
      this.#failures = 0;
    }
    this.#requests += 1;
  }
}
