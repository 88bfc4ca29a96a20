// Sends concurrent requests until it is stopped, and records every failure.

export interface Load {
  /** Ends after the requests in flight. */
  stop(): Promise<{ readonly requests: number; readonly failures: readonly string[] }>;
}

/** @param request sends one request; throws an error when the response is not the expected one */
export function startLoad(workers: number, request: (number: number) => Promise<void>): Load {
  let stopped = false;
  let requests = 0;
  const failures: string[] = [];
  const work = async (): Promise<void> => {
    while (!stopped) {
      requests += 1;
      await request(requests).catch((error: unknown) => {
        failures.push(error instanceof Error ? `${error.message} ${String(error.cause ?? '')}` : String(error));
      });
    }
  };
  const running = Array.from({ length: workers }, work);
  return {
    async stop() {
      stopped = true;
      await Promise.all(running);
      return { requests, failures };
    },
  };
}
