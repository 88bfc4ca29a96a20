// The health of a process: named checks that reject when a dependency is unavailable, and figures that are only
// reported.

export interface Health {
  /** Registers a check that must pass for readiness. */
  add(name: string, check: () => Promise<void>): void;
  /** Registers a figure to report. When it exceeds `most`, its check fails, but the process stays ready. */
  tell(name: string, figure: () => Promise<number>, most: number): void;
  /** Makes the process not ready from now on, because it is draining. */
  drain(): void;
  /** Runs all checks, each for at most a second. */
  report(): Promise<HealthReport>;
}

export interface HealthReport {
  readonly ready: boolean;
  readonly checks: Readonly<Record<string, 'ok' | 'failing'>>;
  readonly figures: Readonly<Record<string, number>>;
}

const checkWithin = 1_000;

export function createHealth(): Health {
  const checks = new Map<string, () => Promise<void>>();
  const told = new Set<string>();
  const figures = new Map<string, number>();
  let draining = false;
  return {
    add(name, check) {
      checks.set(name, check);
    },
    tell(name, figure, most) {
      told.add(name);
      checks.set(name, async () => {
        figures.delete(name);
        const value = await figure();
        figures.set(name, value);
        if (value > most) throw new RangeError(`${name} is past ${most}`);
      });
    },
    drain() {
      draining = true;
    },
    async report() {
      const results = await Promise.all([...checks].map(async ([name, check]) => [name, await passes(check)] as const));
      return {
        ready: !draining && results.every(([name, ok]) => ok || told.has(name)),
        checks: Object.fromEntries(results.map(([name, ok]) => [name, ok ? 'ok' : 'failing'])),
        figures: Object.fromEntries(figures),
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
