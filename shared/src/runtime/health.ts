// What a process knows of its own health: named checks, each a promise that rejects when the thing is away.

export interface Health {
  /** Registers a check that readiness needs. */
  add(name: string, check: () => Promise<void>): void;
  /** From now on not ready, whatever the checks say: the process is draining. */
  drain(): void;
  /** Runs all checks, each for at most a second. */
  report(): Promise<HealthReport>;
}

export interface HealthReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
}

const checkWithin = 1_000;

export function createHealth(): Health {
  const checks = new Map<string, () => Promise<void>>();
  let draining = false;
  return {
    add(name, check) {
      checks.set(name, check);
    },
    drain() {
      draining = true;
    },
    async report() {
      const results = await Promise.all([...checks].map(async ([name, check]) => [name, await passes(check)] as const));
      return {
        ready: !draining && results.every(([, ok]) => ok),
        checks: Object.fromEntries(results.map(([name, ok]) => [name, ok ? 'ok' : 'failing'])),
      };
    },
  };
}

async function passes(check: () => Promise<void>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, checkWithin, false);
  });
  const result = await Promise.race([
    check().then(
      () => true,
      () => false,
    ),
    late,
  ]);
  clearTimeout(timer);
  return result;
}
